# src/ir: programs of every kind.
foreach(part canonical_any copy_operand copy_result few half_parts kinds masked_factors operations precision products_apart simpler_products slice verify_any)
  ricci_test(ir_${part} LABEL unit PROGRAM ir SOURCES ir_${part}.cpp LIBS ricci_lower)
endforeach()
