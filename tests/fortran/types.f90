! Every element type of the Fortran module, rank 0 to 4, an empty array, copies of a plan, and what is refused.
program types
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use ricci
  implicit none
  integer(int8), target :: a(2, 3), ta(3, 2)
  integer(int16), target :: b(2, 3), tb(3, 2)
  integer(int32), target :: c(2, 3), tc(3, 2)
  integer(int64), target :: d(2, 3), td(3, 2)
  real(real32), target :: e(2, 3), te(3, 2)
  real(real64), target :: f(2, 3), tf(3, 2)
  complex(real32), target :: g(2, 3), tg(3, 2)
  complex(real64), target :: h(2, 3), th(3, 2)
  real(real64), target :: s, t(2, 1, 3, 1), empty(0, 3), tempty(3, 0)
  type(ricci_plan) :: plan, copy
  type(ricci_error) :: error
  integer :: k
  f = reshape([(k, k=1, 6)], shape(f))
  a = int(f, int8)
  b = int(f, int16)
  c = int(f, int32)
  d = int(f, int64)
  e = real(f, real32)
  g = cmplx(f, -f, real32)
  h = cmplx(f, -f, real64)
  call ricci_permute('ij->ji', ricci_tensor(ta), ricci_tensor(a))
  call ricci_permute('ij->ji', ricci_tensor(tb), ricci_tensor(b))
  call ricci_permute('ij->ji', ricci_tensor(tc), ricci_tensor(c))
  call ricci_permute('ij->ji', ricci_tensor(td), ricci_tensor(d))
  call ricci_permute('ij->ji', ricci_tensor(te), ricci_tensor(e))
  call ricci_permute('ij->ji', ricci_tensor(tf), ricci_tensor(f))
  call ricci_permute('ij->ji', ricci_tensor(tg), ricci_tensor(g))
  call ricci_permute('ij->ji', ricci_tensor(th), ricci_tensor(h), [character(8) :: 'conj=all'])
  call check(all(ta == transpose(a)) .and. all(tb == transpose(b)), 'int8 and int16')
  call check(all(tc == transpose(c)) .and. all(td == transpose(d)), 'int32 and int64')
  call check(all(te == transpose(e)) .and. all(tf == transpose(f)), 'real32 and real64')
  call check(all(tg == transpose(g)) .and. all(th == conjg(transpose(h))), 'complex')
  call ricci_einsum('ij->', ricci_tensor(s), [ricci_tensor(f)])
  call check(s == 21, 'rank 0')
  call ricci_einsum('ij->ixjy', ricci_tensor(t), [ricci_tensor(f)], error=error)
  call check(error%status == -1 .and. error%line == 1, 'new axes are refused')
  call ricci_permute('ij->ji', ricci_tensor(tempty), ricci_tensor(empty))
  call ricci_plan_permute(plan, 'ij->ji', ricci_tensor(tf), ricci_tensor(f), [character(6) :: 'beta=1'])
  copy = plan
  call copy%execute([ricci_tensor(tf)], [ricci_tensor(f)])
  call check(all(tf == 2 * transpose(f)), 'a copy is the same plan')
  call plan%execute([ricci_tensor(te)], [ricci_tensor(f)], error=error)
  call check(error%status == -2 .and. all(te == transpose(e)), 'another type is refused')
  call plan%execute([ricci_tensor(tf)], [ricci_tensor(f)], alpha=(2d0, 0d0), error=error)
  call check(error%status == -3 .and. error%name == 'plan', 'a factor that the plan was not made for is refused')
  call plan%release()
  call plan%release()
  call plan%execute([ricci_tensor(tf)], [ricci_tensor(f)], error=error)
  call check(error%status /= 0, 'a released plan is refused')
  call check(len(ricci_version()) > 0, 'the version')
  print '(a)', 'ok'
contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(2a)', 'wrong: ', what
    error stop 1
  end subroutine
end program
