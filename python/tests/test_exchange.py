"""The protocols by which arrays come in, with producers made here: what is asked for, in which order, and on which stream.

No GPU is needed: producers that claim to be on one record the stream that they are given, and the call then ends in a
DeviceError, before anything is touched.
"""
import ctypes
import unittest

import numpy as np

import ricci

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p))]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("flags", ctypes.c_uint64), ("tensor", Tensor),
    ]  # fmt: skip


def describe(tensor, array, device=(1, 0), offset=0):
    """Fills a DLTensor for a NumPy array; what must stay alive with it."""
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    strides = (ctypes.c_int64 * max(array.ndim, 1))(*[s // array.itemsize for s in array.strides])
    tensor.data, tensor.byte_offset = array.ctypes.data - offset, offset
    tensor.device_type, tensor.device_id = device
    tensor.ndim, tensor.lanes, tensor.bits = array.ndim, 1, 8 * array.itemsize
    tensor.code = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}[array.dtype.kind]
    tensor.shape, tensor.strides = shape, strides
    return shape, strides


class Producer:
    """Offers `__dlpack__` alone, as an older or a newer package; counts what it handed out and got back."""

    def __init__(self, array, device=(1, 0), version=None, flags=0, offset=0):
        self.array, self.device, self.version, self.flags, self.offset = array, device, version, flags, offset
        self.asked, self.alive = [], 0

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **asked):
        if self.version is None and "max_version" in asked:
            raise TypeError("unexpected keyword argument 'max_version'")
        self.asked.append(asked)
        managed = Managed() if self.version is None else Versioned()

        def release(_):
            self.alive -= 1

        managed.deleter = type(managed.deleter)(release)
        if self.version is not None:
            managed.major, managed.minor = self.version
            managed.flags = self.flags
        self.kept = (managed, *describe(managed.tensor, self.array, self.device, self.offset))
        self.alive += 1
        name = b"dltensor" if self.version is None else b"dltensor_versioned"
        return _new(ctypes.addressof(managed), name, None)


class Capsules(unittest.TestCase):
    def test_both_kinds_and_their_release(self):
        x = np.arange(12.0).reshape(3, 4)[:, ::-1]
        for version in (None, (1, 0), (1, 3)):
            producer = Producer(x, version=version, offset=16)
            np.testing.assert_array_equal(ricci.permute("ab->ba", producer), x.T)
            self.assertEqual(producer.alive, 0)
            self.assertNotIn("stream", producer.asked[0])
            self.assertEqual(producer.asked[0].get("max_version"), None if version is None else (1, 1))

    def test_released_after_errors_too(self):
        producer = Producer(np.zeros((3, 4)))
        with self.assertRaises(ricci.SpecError):
            ricci.permute("ab->b", producer)
        self.assertEqual(producer.alive, 0)

    def test_read_only_output(self):
        x, producer = np.ones((2, 3)), Producer(np.zeros((3, 2)), version=(1, 0), flags=1)
        with self.assertRaisesRegex(ricci.ShapeError, "out is read-only"):
            ricci.permute("ab->ba", x, out=producer)
        writable = Producer(np.zeros((3, 2)), version=(1, 0))
        self.assertIs(ricci.permute("ab->ba", x, out=writable), writable)
        np.testing.assert_array_equal(writable.array, 1)

    def test_what_has_no_word(self):
        with self.assertRaisesRegex(ricci.ShapeError, "bool"):
            ricci.permute("a->a", Producer(np.zeros(3, bool)))
        with self.assertRaisesRegex(ricci.DeviceError, "DLPack's type 8"):
            ricci.permute("a->a", Producer(np.zeros(3), device=(8, 0)))


class Interface:
    """Offers `__cuda_array_interface__` alone."""

    def __init__(self, shape, typestr="<f8", stream=None, strides=None):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (0x10000, False), "version": 3, "stream": stream, "strides": strides,
        }  # fmt: skip


class OnGpu(unittest.TestCase):
    """Streams reach producers, and the default one is called 1."""

    def asked(self, first, second, **options):
        with self.assertRaises(ricci.DeviceError):
            ricci.einsum("ab,bc->ac", first, second, out=Interface((2, 4)), **options)
        return second.asked[0]["stream"]

    def test_streams(self):
        def gpu():
            return Producer(np.zeros((3, 4)), device=(2, 0), version=(1, 0))

        class Stream:
            cuda_stream = 99

        class Protocol:
            def __cuda_stream__(self):
                return (0, 98)

        first = Interface((2, 3), stream=5)
        self.assertEqual(self.asked(first, gpu()), 5)
        self.assertEqual(self.asked(first, gpu(), stream=77), 77)
        self.assertEqual(self.asked(first, gpu(), stream=Stream()), 99)
        self.assertEqual(self.asked(first, gpu(), stream=Protocol()), 98)
        self.assertEqual(self.asked(Interface((2, 3), stream=1), gpu()), 1)
        self.assertEqual(self.asked(Interface((2, 3)), gpu()), 1)
        with self.assertRaisesRegex(TypeError, "stream="):
            ricci.einsum("ab,bc->ac", first, gpu(), stream="first")

    def test_operands_on_two_devices(self):
        with self.assertRaisesRegex(ricci.DeviceError, "operand 1 is on the CPU, operand 0 on GPU 0"):
            ricci.einsum("ab,bc->ac", Interface((2, 3)), np.zeros((3, 4)))

    def test_types_and_strides_of_the_interface(self):
        with self.assertRaisesRegex(ricci.ShapeError, "type <V2"):
            ricci.permute("a->a", Interface((3,), "<V2"))
        with self.assertRaisesRegex(ricci.ShapeError, "no multiple"):
            ricci.permute("a->a", Interface((3,), strides=(12,)))


def exchanged(streams):
    """A type of arrays that offers `__dlpack_c_exchange_api__`, and a current stream."""
    kept = []
    pointer = ctypes.c_void_p

    class Api(ctypes.Structure):
        _fields_ = [(name, ctypes.c_uint32) for name in ("major", "minor")] + [
            (name, pointer) for name in ("previous", "allocate", "to_managed", "from_managed", "to_borrowed", "current_stream")
        ]

    def to_borrowed(array, tensor):
        array.borrowed += 1
        kept.append(describe(tensor[0], array.array, array.device))
        return 0

    def current_stream(device_type, device, out):
        streams.append((device_type, device))
        out[0] = 4711
        return 0

    functions = (
        ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))(to_borrowed),
        ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(pointer))(current_stream),
    )
    api = Api(1, 3)
    api.to_borrowed, api.current_stream = (ctypes.cast(f, pointer).value for f in functions[:2])
    kept.append((api, functions))

    class Exchanged:
        __dlpack_c_exchange_api__ = _new(ctypes.addressof(api), b"dlpack_exchange_api", None)
        keep = kept

        def __init__(self, array, device=(1, 0)):
            self.array, self.device, self.borrowed = array, device, 0

        def __dlpack__(self, **_):
            raise AssertionError("the table comes before __dlpack__")

    return Exchanged


class ExchangeTable(unittest.TestCase):
    def test_comes_first(self):
        streams = []
        Exchanged = exchanged(streams)
        x = Exchanged(np.arange(6.0).reshape(2, 3))
        np.testing.assert_array_equal(ricci.permute("ab->ba", x), x.array.T)
        self.assertEqual((x.borrowed, streams), (1, []))

    def test_names_the_current_stream(self):
        streams = []
        Exchanged = exchanged(streams)
        second = Producer(np.zeros((3, 4)), device=(2, 0), version=(1, 0))
        with self.assertRaises(ricci.DeviceError):
            ricci.einsum("ab,bc->ac", Exchanged(np.zeros((2, 3)), (2, 0)), second, out=Interface((2, 4)))
        self.assertEqual((second.asked[0]["stream"], streams), (4711, [(2, 0)]))


if __name__ == "__main__":
    unittest.main()
