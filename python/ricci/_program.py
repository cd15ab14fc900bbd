"""Programs of statements, called with arrays by name."""
import threading

from ._errors import ShapeError
from ._ricci import ProgramText, _form

_KEPT_PLANS = 256


class Program:
    """Statements over tensors and grids, read from text (docs/programs.md).

    Called with arrays for tensors, numbers for parameters and extents, all by name:

        mp2 = ricci.Program(text)
        energy = mp2(v=v, eo=eo, ev=ev)

    Outputs that are not given are made, of the kind of the first array; one output is returned as an array, several as
    a dict. `inout` tensors and outputs that are given are written in place. A tensor `layout pointers` takes a dict of
    arrays by buffer name, or a sequence in the order of its buffers. Arrays lie as declared, row-major unless the
    program says otherwise. Plans are kept for equal extents; any number of threads may call.
    progress=True shows a bar of long calls on a CPU; a function is told the share that is done.
    """

    def __init__(self, text):
        self._text = ProgramText(text)
        brought = [tensor for tensor in self._text.tensors if tensor.role in ("input", "output", "inout")]
        self._tensors = {tensor.name: tensor for tensor in brought}
        self._params = [param.name for param in self._text.params]
        self._plans = {}
        self._lock = threading.Lock()

    @classmethod
    def from_file(cls, path):
        """Reads the text of a file."""
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    @property
    def text(self):
        """The program in text form, as Ricci prints it."""
        return self._text.text

    @property
    def name(self):
        return self._text.name

    @property
    def tensors(self):
        """The tensors that a caller brings, in the order of declaration."""
        return list(self._tensors.values())

    @property
    def params(self):
        """The parameters, in the order of declaration."""
        return self._text.params

    @property
    def open_extents(self):
        """Names of the indices whose extents come from arrays or from the call."""
        return self._text.open_extents

    def plan(self, *, gpu=-1, threads=0, schedule="", mode="estimate", precision="operands", workspace_limit=None, **values):
        """A plan to be looked at (source, explain(), ...), for arrays or their shapes, and extents, by name."""
        extents, shapes = {}, {}
        for name, value in values.items():
            tensor = self._tensors.get(name)
            if tensor is None:
                extents[name] = value
            elif isinstance(value, tuple) and all(isinstance(extent, int) for extent in value):
                shapes[name] = value
            else:
                part = next(iter(self._parts(tensor, value).values()))
                shapes[name], gpu = _form(part, name)
        return self._text.plan(extents, shapes, gpu, threads, schedule, mode, precision, workspace_limit)

    def __call__(self, *, stream=None, progress=None, **values):
        arrays, extents, shapes, like, gpu = {}, {}, {}, None, -1
        params = [values.pop(name, None) for name in self._params]
        missing = [name for name, value in zip(self._params, params) if value is None]
        if missing:
            raise ShapeError(f"parameter {missing[0]} was not given; program {self.name} has {', '.join(self._params)}")
        for name, value in values.items():
            tensor = self._tensors.get(name)
            if tensor is None:
                extents[name] = value
                continue
            parts = self._parts(tensor, value)
            arrays.update(parts)
            for part in parts.values():
                like = part if like is None else like
                shape, gpu = _form(part, name)
                shapes[name] = shape
        given = set(shapes)
        for name, tensor in self._tensors.items():
            if tensor.role != "output" and name not in given:
                raise ShapeError(f"tensor {name} was not given; program {self.name} reads it")
        plan = self._planned(extents, shapes, gpu)
        results = {}
        for name, tensor in self._tensors.items():
            if tensor.role == "output" and name not in given:
                made = {buffer: plan._new(buffer, like) for buffer in tensor.buffers}
                arrays.update(made)
                results[name] = made if len(made) > 1 else made[tensor.buffers[0]]
            elif tensor.role != "input":
                results[name] = values[name]
        plan._call(arrays, params, stream, progress)
        return next(iter(results.values())) if len(results) == 1 else results

    def _planned(self, extents, shapes, gpu):
        key = (tuple(sorted(extents.items())), tuple((name, *shape) for name, shape in sorted(shapes.items())), gpu)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._text.plan(extents, shapes, gpu)
            with self._lock:
                if len(self._plans) >= _KEPT_PLANS:
                    self._plans.clear()
                self._plans[key] = plan
        return plan

    @staticmethod
    def _parts(tensor, value):
        if len(tensor.buffers) == 1:
            return {tensor.buffers[0]: value}
        parts = value if isinstance(value, dict) else dict(zip(tensor.buffers, value))
        if set(parts) != set(tensor.buffers):
            raise ShapeError(f"tensor {tensor.name} takes {len(tensor.buffers)} arrays: {', '.join(tensor.buffers)}")
        return parts

    def __repr__(self):
        return f"<ricci.Program {self.name}({', '.join([*self._tensors, *self._params])})>"
