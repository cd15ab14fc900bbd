# The bench runs: its helper finds what it claims to measure. No figure is checked, machines differ.
if(TARGET ricci_bench_latency)
  add_test(NAME run.bench_latency COMMAND ricci_bench_latency --repeat 1)
  ricci_test_properties(run.bench_latency LABEL run limits)
endif()
