! Ricci from Fortran: index notation over arrays of any rank, through the C interface of libricci.so.
!
!   type(ricci_plan) :: plan
!   call ricci_plan_einsum(plan, 'ik,kj->ij', ricci_tensor(c), [ricci_tensor(a), ricci_tensor(b)])
!   call plan%execute([ricci_tensor(c)], [ricci_tensor(a), ricci_tensor(b)])
!   call plan%release()
!
! The first letter of an operand is the first dimension of its array, which is contiguous: column-major order. Arrays
! that a tensor is made of are declared `target` and live as long as it. Every procedure that may fail takes an optional
! `error`; without it a failure ends the program with its text. Thread-safe as the C interface is: a plan may be executed
! from any number of threads at once.
module ricci
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64, error_unit
  implicit none
  private
  public :: ricci_tensor, ricci_plan, ricci_error
  public :: ricci_plan_permute, ricci_plan_einsum, ricci_permute, ricci_einsum, ricci_version

  integer, parameter :: max_rank = 15

  ! A failure: its status (0: none), the word for it, its text, and where in the spec it is (0: in no place).
  type :: ricci_error
    integer :: status = 0
    character(:), allocatable :: name, text
    integer :: line = 0, column = 0
  end type

  ! An array as Ricci sees it: element type, shape, address. Made by ricci_tensor(array) for contiguous arrays of
  ! integer(int8..int64), real(real32, real64) and complex of both, of rank 0 to 15.
  type :: ricci_tensor
    private
    integer(c_int) :: type = -1  ! -1: an array that is not contiguous
    integer :: rank = 0
    integer(c_int64_t) :: extents(max_rank) = 0
    type(c_ptr) :: address = c_null_ptr
  end type

  interface ricci_tensor
    procedure tensor_i8, tensor_i16, tensor_i32, tensor_i64, tensor_r32, tensor_r64, tensor_c32, tensor_c64
  end interface

  ! One problem, decided and compiled; to be given back with release(). Copies of a plan are the same plan.
  type :: ricci_plan
    private
    type(c_ptr) :: handle = c_null_ptr
    type(ricci_tensor), allocatable :: made_for(:)  ! the outputs, then the inputs
  contains
    procedure :: execute => plan_execute
    procedure :: text => plan_text
    procedure :: release => plan_release
  end type

  ! As in ricci.h.
  type, bind(c) :: c_layout
    integer(c_int) :: type, rank
    type(c_ptr) :: extents, strides
    integer(c_int64_t) :: alignment
  end type
  type, bind(c) :: c_call
    integer(c_int64_t) :: size
    type(c_ptr) :: alpha, beta, params, workspace
    integer(c_int64_t) :: workspace_bytes
    type(c_ptr) :: stream
  end type
  integer(c_int), parameter :: options_permute = 0, options_einsum = 1
  integer(c_int), parameter :: type_i8 = 0, type_i16 = 1, type_i32 = 2, type_i64 = 3, type_f32 = 10, type_f64 = 11, &
                               type_c64 = 12, type_c128 = 13

  interface
    function c_version() bind(c, name='ricci_version')
      import :: c_ptr
      type(c_ptr) :: c_version
    end function
    function c_status_name(status) bind(c, name='ricci_status_name')
      import :: c_ptr, c_int
      integer(c_int), value :: status
      type(c_ptr) :: c_status_name
    end function
    function c_last_error() bind(c, name='ricci_last_error')
      import :: c_ptr
      type(c_ptr) :: c_last_error
    end function
    subroutine c_last_error_position(line, column, offset) bind(c, name='ricci_last_error_position')
      import :: c_int, c_int64_t
      integer(c_int), intent(out) :: line, column
      integer(c_int64_t), intent(out) :: offset
    end subroutine
    function c_options_create(kind, options) bind(c, name='ricci_options_create') result(status)
      import :: c_ptr, c_int
      integer(c_int), value :: kind
      type(c_ptr), intent(out) :: options
      integer(c_int) :: status
    end function
    function c_options_set(options, key, value) bind(c, name='ricci_options_set') result(status)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: options
      character(kind=c_char), intent(in) :: key(*), value(*)
      integer(c_int) :: status
    end function
    subroutine c_options_destroy(options) bind(c, name='ricci_options_destroy')
      import :: c_ptr
      type(c_ptr), value :: options
    end subroutine
    function c_plan_permute(runtime, spec, input, output, options, plan) bind(c, name='ricci_plan_permute') &
        result(status)
      import :: c_ptr, c_int, c_char, c_layout
      type(c_ptr), value :: runtime, options
      character(kind=c_char), intent(in) :: spec(*)
      type(c_layout), intent(in) :: input, output
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: status
    end function
    function c_plan_einsum(runtime, spec, count, inputs, output, options, plan) bind(c, name='ricci_plan_einsum') &
        result(status)
      import :: c_ptr, c_int, c_char, c_layout
      type(c_ptr), value :: runtime, options
      character(kind=c_char), intent(in) :: spec(*)
      integer(c_int), value :: count
      type(c_layout), intent(in) :: inputs(*), output
      type(c_ptr), intent(out) :: plan
      integer(c_int) :: status
    end function
    function c_execute(plan, outputs, inputs, call) bind(c, name='ricci_execute') result(status)
      import :: c_ptr, c_int, c_call
      type(c_ptr), value :: plan, outputs, inputs  ! arrays of addresses; by value, as what lies there is written
      type(c_call), intent(in) :: call
      integer(c_int) :: status
    end function
    function c_plan_text(plan, name, text) bind(c, name='ricci_plan_text') result(status)
      import :: c_ptr, c_int, c_char
      type(c_ptr), value :: plan
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: text
      integer(c_int) :: status
    end function
    subroutine c_plan_release(plan) bind(c, name='ricci_plan_release')
      import :: c_ptr
      type(c_ptr), value :: plan
    end subroutine
    function c_strlen(text) bind(c, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
      integer(c_size_t) :: c_strlen
    end function
  end interface

contains

  function ricci_version() result(text)
    character(:), allocatable :: text
    text = text_at(c_version())
  end function

  ! Plans output = alpha * op(input) with its dimensions permuted + beta * output, for a spec such as 'abc->cab'.
  ! options: texts 'key=value', as ricci_options_set takes them; shorter ones are padded with blanks.
  subroutine ricci_plan_permute(plan, spec, output, input, options, error)
    type(ricci_plan), intent(out) :: plan
    character(*), intent(in) :: spec
    type(ricci_tensor), intent(in) :: output, input
    character(*), intent(in), optional :: options(:)
    type(ricci_error), intent(out), optional :: error
    integer(c_int64_t), target :: strides(max_rank, 2)
    type(ricci_tensor), target :: tensors(2)
    type(c_ptr) :: given
    integer(c_int) :: status
    tensors = [output, input]
    if (.not. are_contiguous(tensors, error)) return
    if (.not. make_options(options_permute, given, options, error)) return
    status = c_plan_permute(c_null_ptr, spec // c_null_char, layout_of(tensors(2), strides(:, 2)), &
                            layout_of(tensors(1), strides(:, 1)), given, plan%handle)
    call c_options_destroy(given)
    if (succeeded(status, error)) plan%made_for = tensors
  end subroutine

  ! Plans output = alpha * sum(op(A) * op(B) * ...) + beta * output for a spec such as 'ik,kj->ij'.
  subroutine ricci_plan_einsum(plan, spec, output, inputs, options, error)
    type(ricci_plan), intent(out) :: plan
    character(*), intent(in) :: spec
    type(ricci_tensor), intent(in) :: output, inputs(:)
    character(*), intent(in), optional :: options(:)
    type(ricci_error), intent(out), optional :: error
    integer(c_int64_t), target :: strides(max_rank, size(inputs) + 1)
    type(ricci_tensor), target :: tensors(size(inputs) + 1)
    type(c_layout) :: layouts(size(inputs) + 1)
    type(c_ptr) :: given
    integer(c_int) :: status
    integer :: k
    tensors(1) = output
    tensors(2:) = inputs
    if (.not. are_contiguous(tensors, error)) return
    if (.not. make_options(options_einsum, given, options, error)) return
    do k = 1, size(tensors)
      layouts(k) = layout_of(tensors(k), strides(:, k))
    end do
    status = c_plan_einsum(c_null_ptr, spec // c_null_char, size(inputs, kind=c_int), layouts(2:), layouts(1), given, &
                           plan%handle)
    call c_options_destroy(given)
    if (succeeded(status, error)) plan%made_for = tensors
  end subroutine

  ! Runs a plan. Arrays have the types and shapes that it was made for. alpha and beta: of a plan that was made with
  ! 'alpha=any' or 'beta=any'; left out, the plan's. stream: CUstream of a plan for a GPU.
  subroutine plan_execute(self, outputs, inputs, alpha, beta, stream, error)
    class(ricci_plan), intent(in) :: self
    type(ricci_tensor), intent(in), target :: outputs(:)  ! target: what they point to changes
    type(ricci_tensor), intent(in) :: inputs(:)
    complex(real64), intent(in), optional, target :: alpha, beta
    type(c_ptr), intent(in), optional :: stream
    type(ricci_error), intent(out), optional :: error
    type(c_call) :: call
    type(c_ptr), target :: to(size(outputs)), from(size(inputs) + 1)  ! never empty, for c_loc
    if (.not. c_associated(self%handle)) then
      call refuse('this plan was never made, or was released', error)
      return
    end if
    if (size(outputs) /= 1 .or. size(outputs) + size(inputs) /= size(self%made_for)) then
      call refuse('the plan takes other numbers of arrays', error)
      return
    end if
    if (.not. all(same_shape([outputs, inputs], self%made_for))) then
      call refuse('an array has another type or shape than the plan was made for, or is not contiguous', error)
      return
    end if
    call%size = c_sizeof(call)
    call%alpha = c_null_ptr
    call%beta = c_null_ptr
    call%params = c_null_ptr
    call%workspace = c_null_ptr
    call%workspace_bytes = 0
    call%stream = c_null_ptr
    if (present(alpha)) call%alpha = c_loc(alpha)
    if (present(beta)) call%beta = c_loc(beta)
    if (present(stream)) call%stream = stream
    to = outputs%address
    from(:size(inputs)) = inputs%address
    if (succeeded(c_execute(self%handle, c_loc(to), c_loc(from), call), error)) return
  end subroutine

  ! A text of the plan: 'source', 'explain', 'schedule', 'choice', ...
  function plan_text(self, name, error) result(text)
    class(ricci_plan), intent(in) :: self
    character(*), intent(in) :: name
    type(ricci_error), intent(out), optional :: error
    character(:), allocatable :: text
    type(c_ptr) :: at
    text = ''
    if (succeeded(c_plan_text(self%handle, name // c_null_char, at), error)) text = text_at(at)
  end function

  subroutine plan_release(self)
    class(ricci_plan), intent(inout) :: self
    call c_plan_release(self%handle)
    self%handle = c_null_ptr
    if (allocated(self%made_for)) deallocate (self%made_for)
  end subroutine

  ! One call: plans (kernels that were compiled before are found in the cache) and runs.
  subroutine ricci_permute(spec, output, input, options, error)
    character(*), intent(in) :: spec
    type(ricci_tensor), intent(in), target :: output
    type(ricci_tensor), intent(in) :: input
    character(*), intent(in), optional :: options(:)
    type(ricci_error), intent(out), optional :: error
    type(ricci_plan) :: plan
    call ricci_plan_permute(plan, spec, output, input, options, error)
    if (c_associated(plan%handle)) call plan%execute([output], [input], error=error)
    call plan%release()
  end subroutine

  subroutine ricci_einsum(spec, output, inputs, options, error)
    character(*), intent(in) :: spec
    type(ricci_tensor), intent(in), target :: output
    type(ricci_tensor), intent(in) :: inputs(:)
    character(*), intent(in), optional :: options(:)
    type(ricci_error), intent(out), optional :: error
    type(ricci_plan) :: plan
    call ricci_plan_einsum(plan, spec, output, inputs, options, error)
    if (c_associated(plan%handle)) call plan%execute([output], inputs, error=error)
    call plan%release()
  end subroutine

  function tensor_i8(array) result(tensor)
    integer(int8), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_i8, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_i16(array) result(tensor)
    integer(int16), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_i16, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_i32(array) result(tensor)
    integer(int32), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_i32, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_i64(array) result(tensor)
    integer(int64), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_i64, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_r32(array) result(tensor)
    real(real32), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_f32, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_r64(array) result(tensor)
    real(real64), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_f64, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_c32(array) result(tensor)
    complex(real32), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_c64, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function tensor_c64(array) result(tensor)
    complex(real64), intent(in), target :: array(..)
    type(ricci_tensor) :: tensor
    tensor = described(type_c128, shape(array, kind=c_int64_t), is_contiguous(array), c_loc(array))
  end function

  function described(type, extents, contiguous, address) result(tensor)
    integer(c_int), intent(in) :: type
    integer(c_int64_t), intent(in) :: extents(:)
    logical, intent(in) :: contiguous
    type(c_ptr), intent(in) :: address
    type(ricci_tensor) :: tensor
    if (contiguous) tensor%type = type
    tensor%rank = size(extents)
    tensor%extents(:size(extents)) = extents
    tensor%address = address
  end function

  elemental function same_shape(x, y) result(same)
    type(ricci_tensor), intent(in) :: x, y
    logical :: same
    same = x%type == y%type .and. x%rank == y%rank .and. all(x%extents == y%extents)
  end function

  ! Strides of column-major order, into memory that lives as long as the layout is used.
  function layout_of(tensor, strides) result(layout)
    type(ricci_tensor), intent(in), target :: tensor
    integer(c_int64_t), intent(out), target :: strides(max_rank)
    type(c_layout) :: layout
    integer :: k
    strides = 1
    do k = 2, tensor%rank
      strides(k) = strides(k - 1) * max(tensor%extents(k - 1), 1_c_int64_t)
    end do
    layout = c_layout(tensor%type, tensor%rank, c_loc(tensor%extents), c_loc(strides), 0)
  end function

  function are_contiguous(tensors, error) result(good)
    type(ricci_tensor), intent(in) :: tensors(:)
    type(ricci_error), intent(inout), optional :: error
    logical :: good
    good = all(tensors%type >= 0)
    if (.not. good) call refuse('an array is not contiguous; copy the section, or permute the whole array', error)
  end function

  function make_options(kind, made, options, error) result(good)
    integer(c_int), intent(in) :: kind
    type(c_ptr), intent(out) :: made
    character(*), intent(in), optional :: options(:)
    type(ricci_error), intent(inout), optional :: error
    logical :: good
    integer :: k, equals
    good = succeeded(c_options_create(kind, made), error)
    if (.not. good .or. .not. present(options)) return
    do k = 1, size(options)
      equals = index(options(k), '=')
      if (equals == 0) equals = len_trim(options(k)) + 1
      good = succeeded(c_options_set(made, trim(options(k)(:equals - 1)) // c_null_char, &
                                     trim(options(k)(min(equals + 1, len(options(k)) + 1):)) // c_null_char), error)
      if (good) cycle
      call c_options_destroy(made)
      return
    end do
  end function

  ! Whether a status is none of a failure; else tells the failure, or ends the program.
  function succeeded(status, error) result(good)
    integer(c_int), intent(in) :: status
    type(ricci_error), intent(inout), optional :: error
    logical :: good
    type(ricci_error) :: failure
    integer(c_int) :: line, column
    integer(c_int64_t) :: offset
    good = status == 0
    if (good) return
    call c_last_error_position(line, column, offset)
    failure%status = status
    failure%name = text_at(c_status_name(status))
    failure%text = text_at(c_last_error())
    failure%line = line
    failure%column = column
    call tell(failure, error)
  end function

  subroutine refuse(text, error)
    character(*), intent(in) :: text
    type(ricci_error), intent(inout), optional :: error
    type(ricci_error) :: failure
    failure%status = -2
    failure%name = 'shape'
    failure%text = text
    call tell(failure, error)
  end subroutine

  subroutine tell(failure, error)
    type(ricci_error), intent(in) :: failure
    type(ricci_error), intent(inout), optional :: error
    if (present(error)) then
      error = failure
      return
    end if
    write (error_unit, '(4a)') 'ricci: ', failure%name, ': ', failure%text
    error stop 1
  end subroutine

  function text_at(address) result(text)
    type(c_ptr), intent(in) :: address
    character(:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    integer :: k
    call c_f_pointer(address, bytes, [c_strlen(address)])
    allocate (character(size(bytes)) :: text)
    do k = 1, size(bytes)
      text(k:k) = bytes(k)
    end do
  end function

end module
