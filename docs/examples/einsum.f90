! Ricci from Fortran: a permutation, an einsum, a plan that is used several times, an error.
program example
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use ricci
  implicit none
  real(real64), target :: a(2, 3, 4), b(4, 2, 3), m(2, 3), n(3, 2), p(2, 2)
  complex(real32), target :: u(3), v(3), w
  type(ricci_plan) :: plan
  type(ricci_error) :: error
  integer :: i, j, k, turn

  ! The first letter is the first dimension.
  a = reshape([(real(i, real64), i=1, size(a))], shape(a))
  call ricci_permute('abc->cab', ricci_tensor(b), ricci_tensor(a))
  do k = 1, 4
    do j = 1, 3
      do i = 1, 2
        if (b(k, i, j) /= a(i, j, k)) error stop 'an element is not in its place'
      end do
    end do
  end do
  print '(a)', 'permuted'

  ! A scalar product of complex vectors, the first conjugated.
  u = [(1, 1), (0, 2), (3, 0)]
  v = [(2, 0), (1, 1), (0, -1)]
  call ricci_einsum('i,i->', ricci_tensor(w), [ricci_tensor(u), ricci_tensor(v)], [character(8) :: 'conj=1'])
  if (abs(w - dot_product(u, v)) > 0) error stop 'the scalar product is wrong'
  print '(a,f0.1,a,f0.1)', 'scalar product ', real(w), ' ', aimag(w)

  ! One plan, three calls with factors of their own: p = turn * matmul(m, n) + p.
  m = reshape([1, 2, 3, 4, 5, 6], shape(m))
  n = reshape([1, 0, 1, 0, 1, 1], shape(n))
  p = 0
  call ricci_plan_einsum(plan, 'ik,kj->ij', ricci_tensor(p), [ricci_tensor(m), ricci_tensor(n)], &
                         [character(16) :: 'alpha=any', 'beta=1', 'threads=1'])
  do turn = 1, 3
    call plan%execute([ricci_tensor(p)], [ricci_tensor(m), ricci_tensor(n)], alpha=cmplx(turn, 0, real64))
  end do
  if (any(p /= 6 * matmul(m, n))) error stop 'the product is wrong'
  print '(a,4(1x,f0.0))', 'product', p
  print '(2a)', 'chosen: ', plan%text('choice')

  ! Errors: an array of another shape, a letter too many, an option that is none, a section.
  call plan%execute([ricci_tensor(p)], [ricci_tensor(n), ricci_tensor(m)], error=error)
  print '(3a)', error%name, ': ', error%text
  call plan%release()
  call ricci_einsum('ik,kj->iz', ricci_tensor(p), [ricci_tensor(m), ricci_tensor(n)], error=error)
  print '(2a,i0,2a)', error%name, ', column ', error%column, ': ', error%text
  call ricci_permute('abc->cab', ricci_tensor(b), ricci_tensor(a), [character(8) :: 'speed=9'], error)
  print '(3a)', error%name, ': ', error%text
  call ricci_permute('ij->ji', ricci_tensor(p), ricci_tensor(m(:, 1:3:2)), error=error)
  print '(3a)', error%name, ': ', error%text
  call ricci_permute('ij->ji', ricci_tensor(n), ricci_tensor(m), error=error)
  if (error%status /= 0 .or. any(n /= transpose(m))) error stop 'a failure is told where there is none'
end program
