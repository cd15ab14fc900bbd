#include "simt/written_contractions.hpp"

#include "ir/passes/precision.hpp"
#include "ir/sequence.hpp"
#include "kernel/atom_types.hpp"

namespace ricci::simt {
namespace {

constexpr auto kOne = ir::Factor::one, kNone = ir::Factor::zero, kAny = ir::Factor::any;

// In canonical programs "ad,db->ab" has rows a, columns c and depth b.
const std::vector<WrittenContraction> kCases = {
    {"ad,db->ab",
     {{'a', 128}, {'b', 96}, {'d', 64}},
     {DType::f64},
     kOne,
     kNone,
     "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async a b pad 8;"
     "stage B at b0 async b c pad 2;"
     "atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b0 3"},
    {"ad,db->ab",  // ragged everywhere, k8 and k4, more places than rounds
     {{'a', 100}, {'b', 90}, {'d', 50}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:64; tile c:32; tile b:16; order task c0 a0 sum b0; stage A at b0 async a b pad 4;"
     "stage B at b0 async b c pad 4; atom m8n8k4_f64 rows a columns c depth b warps 2x2 runs 2x2x1 blocks 2; pipeline "
     "b0 8"},
    {"da,db->ba",  // the output's neighbours are rows
     {{'a', 72}, {'b', 40}, {'d', 24}},
     {DType::f64},
     kOne,
     kAny,
     "tile c:24; order task c0; stage A at c0 async a b pad 4; stage B at c0 async a c pad 4;"
     "atom m16n8k8_f64 rows c columns b depth a warps 1x1 runs 2x1x1"},
    {"ad,db->ab",
     {{'a', 100}, {'b', 90}, {'d', 50}},
     {DType::f32},
     kAny,
     kAny,
     "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async b a pad 4;"
     "stage B at b0 async b c pad 4; atom fma rows a columns c depth b warps 1x2 runs 4x4x1; pipeline b0 3"},
    {"ad,db->ab",
     {{'a', 20}, {'b', 30}, {'d', 10}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:16; tile c:8; tile b:5; order task a0 c0 sum b0; stage A at b0 async b a; stage B at b0 async b c;"
     "atom fma rows a columns c depth b warps 1x2 runs 1x1x1; pipeline b0 2"},
    {"ad,db->ab",  // operands of a narrower type are converted as they are staged
     {{'a', 33}, {'b', 34}, {'d', 35}},
     {DType::f32, DType::f64, DType::f64},
     kOne,
     kNone,
     "tile c:32; tile b:32; tile a:8; order task c0 b0 sum a0; stage B at a0 shared a c pad 4;"
     "stage A at a0 async a b pad 4; atom m16n8k8_f64 rows c columns b depth a warps 2x2 runs 2x1x1; pipeline a0 2"},
    {"ad,db->ab",  // halves: rows by matrix loads, columns by transposed ones
     {{'a', 128}, {'b', 64}, {'d', 128}},
     {DType::f16, DType::f16, DType::f32},
     kOne,
     kNone,
     "tile a:64; tile b:64; order task a0 sum b0; stage A at b0 async a b pad 8;"
     "stage B at b0 async b c pad 8;"
     "atom m16n8k16_f16 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b0 3"},
    {"da,bd->ab",  // ragged, the other way round, neighbours of the result to a lane
     {{'a', 100}, {'b', 90}, {'d', 50}},
     {DType::bf16},
     kAny,
     kAny,
     "tile a:48; tile c:32; tile b:16; order task b0 c0 sum a0; stage A at a0 async a b pad 8;"
     "stage B at a0 async c a pad 8; atom m16n8k16_bf16 rows b columns c depth a warps 1x2 runs 1x2x2; pipeline a0 2"},
    {"ad,bd->ab",  // rows of an odd number of words: lanes read what they hold
     {{'a', 40}, {'b', 24}, {'d', 48}},
     {DType::f16},
     kOne,
     kNone,
     "tile a:16; tile b:16; order task a0 sum b0; stage A at b0 async a b pad 2; stage B at b0 async c b pad 1;"
     "atom m16n8k16_f16 rows a columns c depth b warps 1x1 runs 1x1x2; pipeline b0 2"},
    {"ad,bd->ab",  // warp groups: rows of 128 bytes along the depth, products under way into the next round
     {{'a', 120}, {'b', 40}, {'d', 320}},
     {DType::bf16, DType::bf16, DType::f32},
     kOne,
     kNone,
     "tile a:64; tile b:64; order task a0 sum b0; stage A at b0 async a b; stage B at b0 async c b;"
     "atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b0 4"},
    {"da,db->ab",  // along both sides, two groups; columns of 64 bytes in two panels
     {{'a', 200}, {'b', 64}, {'d', 96}},
     {DType::f16},
     kAny,
     kAny,
     "tile b:128:64; tile c:64:32; tile a:32; order task b0 c0 sum a0; stage A at a0 async b1 a b;"
     "stage B at a0 async c1 a c; atom wgmma_f16 rows b1 b columns c1 c depth a warps 8x1 runs 1x1x2; pipeline a0 3"},
    {"xda,bd->xab",  // rows of 32 bytes, two places: products end with their round
     {{'x', 3}, {'a', 64}, {'b', 24}, {'d', 80}},
     {DType::bf16},
     kOne,
     kNone,
     "tile b:16; order task a sum b0; stage A at b0 async b c; stage B at b0 async d b;"
     "atom wgmma_bf16 rows c columns d depth b warps 4x1 runs 1x1x2; pipeline b0 2"},
    {"ad,db->ab",  // no pipeline: one round of operands along different ways
     {{'a', 128}, {'b', 16}, {'d', 64}},
     {DType::f16, DType::f16, DType::f32},
     kOne,
     kNone,
     "tile a:64; order task a0; stage A at a0 async a b; stage B at a0 async b c;"
     "atom wgmma_f16 rows a columns c depth b warps 4x1 runs 1x1x2"},
    {"ad,db->ab",  // fragments read ahead of a round, of several steps, ragged
     {{'a', 100}, {'b', 90}, {'d', 72}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:64; tile c:32; tile b:16; order task c0 a0 sum b0; stage A at b0 async a b pad 8;"
     "stage B at b0 async b c pad 2;"
     "atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b0 3 prefetch"},
    {"xad,xdb->ab",  // the same of one step, more places than rounds, in a loop around the pipeline
     {{'x', 3}, {'a', 20}, {'b', 40}, {'d', 24}},
     {DType::f64},
     kOne,
     kNone,
     "tile d:32; tile c:8; order task d0 sum a c0; stage A at c0 async b c pad 4; stage B at c0 async c d pad 2;"
     "atom m16n8k8_f64 rows b columns d depth c warps 2x1 runs 1x1x1; pipeline c0 4 prefetch"},
    {"ad,db->ab",  // copies between the steps of the round before, uneven among threads
     {{'a', 70}, {'b', 45}, {'d', 77}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:32; tile c:16; tile b:24; order task a0 c0 sum b0; stage A at b0 async a b pad 1;"
     "stage B at b0 async b c pad 1;"
     "atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1; pipeline b0 4 prefetch"},
    {"xad,xdb->ab",  // the same in a loop around the pipeline, in as many places as rounds
     {{'x', 2}, {'a', 40}, {'b', 20}, {'d', 70}},
     {DType::f64},
     kOne,
     kNone,
     "tile b:32; tile d:16; tile c:24; order task b0 d0 sum a c0; stage A at c0 async b c; stage B at c0 async c d pad "
     "1;"
     "atom m16n8k8_f64 rows b columns d depth c warps 1x1 runs 1x1x1; pipeline c0 3 prefetch"},
    {"ad,db->ab",  // the same of halves by matrix loads
     {{'a', 128}, {'b', 64}, {'d', 128}},
     {DType::f16, DType::f16, DType::f32},
     kOne,
     kNone,
     "tile a:64; tile b:32; order task a0 sum b0; stage A at b0 async a b pad 8; stage B at b0 async b c pad 8;"
     "atom m16n8k16_f16 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b0 2 prefetch"},
    {"ad,db->ab",  // the same by multiply-adds
     {{'a', 100}, {'b', 90}, {'d', 50}},
     {DType::f32},
     kAny,
     kAny,
     "tile a:64; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async b a pad 4;"
     "stage B at b0 async b c pad 4; atom fma rows a columns c depth b warps 1x2 runs 4x4x1; pipeline b0 2 prefetch"},
    {"ad,db->ab",  // multiply-adds of more steps than are unrolled together, whose number is prime
     {{'a', 70}, {'b', 60}, {'d', 90}},
     {DType::f32},
     kAny,
     kAny,
     "tile a:64; tile c:64; tile b:29; order task a0 c0 sum b0; stage A at b0 async b a; stage B at b0 async b c;"
     "atom fma rows a columns c depth b warps 1x1 runs 4x4x1; pipeline b0 2"},
    {"gad,gdb->gab",  // the same of products side by side
     {{'g', 10}, {'a', 36}, {'b', 28}, {'d', 20}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:4; tile c:8; order task a0 sum c0; stage A at c0 async a b c; stage B at c0 async a c d pad 2;"
     "atom m16n8k8_f64 rows b columns d depth c batch a warps 2x1 runs 1x1x1; pipeline c0 2 prefetch"},
    {"ad,db->ab",  // complex products by real ones of a tensor core
     {{'a', 40}, {'b', 30}, {'d', 20}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:32; tile c:16; tile b:8; order task a0 c0 sum b0; stage A at b0 async a b pad 4; stage B at b0 async b c "
     "pad 2;"
     "atom m16n8k8_f64 rows a columns c depth b warps 1x2 runs 1x1x1; pipeline b0 2"},
    {"ad,db->ab",  // by three real products, in parts of the sum that the blocks of a cluster add
     {{'a', 40}, {'b', 30}, {'d', 60}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:32; tile c:16; tile b:32:8; order task a0 c0 cluster b0 sum b1; stage A at b1 async a b pad 4;"
     "stage B at b1 async b c pad 2;"
     "atom m16n8k8_f64 rows a columns c depth b warps 1x2 runs 1x1x1 products 3; pipeline b1 2"},
    {"ad,db->ab",  // the same with fragments that are read a step ahead, over the end of a round too, ragged
     {{'a', 50}, {'b', 40}, {'d', 70}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:32; tile c:16; tile b:16; order task a0 c0 sum b0; stage A at b0 async a b pad 4;"
     "stage B at b0 async b c pad 2;"
     "atom m16n8k4_f64 rows a columns c depth b warps 1x1 runs 1x1x1 products 3; pipeline b0 3 prefetch"},
    {"ad,db->ab",  // the same of one step a round, and a warp's products twice as many as those of one atom
     {{'a', 40}, {'b', 30}, {'d', 40}},
     {DType::c128},
     kOne,
     kNone,
     "tile a:32; tile c:16; tile b:8; order task a0 c0 sum b0; stage A at b0 async b a pad 2;"
     "stage B at b0 async c b pad 2;"
     "atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x1 products 3; pipeline b0 2 prefetch"},
    {"ad,db->ab",  // the same in four products, one of them negated
     {{'a', 50}, {'b', 40}, {'d', 70}},
     {DType::c128},
     kOne,
     kAny,
     "tile a:32; tile c:32; tile b:16; order task a0 c0 sum b0; stage A at b0 async a b pad 4;"
     "stage B at b0 async b c pad 2;"
     "atom m16n8k4_f64 rows a columns c depth b warps 1x1 runs 1x1x1; pipeline b0 3 prefetch"},
    {"ad,db->ab",  // in four, of sm_80, an operand converted, rows in pairs
     {{'a', 17}, {'b', 33}, {'d', 12}},
     {DType::c64, DType::c128, DType::c128},
     kOne,
     kNone,
     "tile c:16; tile b:16; tile a:4; order task c0 b0 sum a0; stage B at a0 shared a c pad 2;"
     "stage A at a0 async a b; atom m8n8k4_f64 rows c columns b depth a warps 2x1 runs 2x1x1"},
    {"a,b->ab",  // an outer product: nothing is summed, and a warp writes 64 neighbours
     {{'a', 40}, {'b', 200}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:16; tile b:128; order task a0 b0; stage A at b0 async a; stage B at b0 async b;"
     "atom fma_row rows a columns b warps 1x2 runs 1x2x1"},
    // Products side by side, each of warps of its own; the last block of the batch has fewer.
    {"gad,gdb->gab",
     {{'g', 10}, {'a', 20}, {'b', 12}, {'d', 20}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:4; tile c:8; order task a0 sum c0; stage A at c0 async a b c; stage B at c0 async a c d pad 2;"
     "atom m16n8k8_f64 rows b columns d depth c batch a warps 2x1 runs 1x1x1; pipeline c0 2"},
    {"gad,gdb->gab",  // by matrix loads
     {{'g', 3}, {'a', 32}, {'b', 16}, {'d', 32}},
     {DType::bf16, DType::bf16, DType::f32},
     kOne,
     kNone,
     "tile a:3; tile c:16; order sum c0; stage A at c0 async a b c pad 8; stage B at c0 async a c d pad 8;"
     "atom m16n8k16_bf16 rows b columns d depth c batch a warps 1x1 runs 1x1x2; pipeline c0 2"},
    {"adg,dbg->abg",  // neighbours are of different products: of lanes, and of warps besides
     {{'g', 40}, {'a', 6}, {'b', 10}, {'d', 5}},
     {DType::f32},
     kAny,
     kAny,
     "tile c:16:8; order task c0 a; stage A at a async b c1 c pad 4; stage B at a async b d c1 c pad 4;"
     "atom fma_batch8 rows columns d depth b batch c1 c warps 1x2 runs 1x1x1"},
    {"adg,dbg->abg",
     {{'g', 50}, {'a', 6}, {'b', 4}, {'d', 9}},
     {DType::c64},
     kOne,
     kNone,
     "tile c:32; tile b:3; order task c0 sum b0; stage A at b0 async a b c; stage B at b0 async b d c;"
     "atom fma_batch32 rows a columns d depth b batch c warps 2x1 runs 1x1x1; pipeline b0 3"},
    {"ad,db->ab",  // results through shared memory: rows of odd lengths, ragged
     {{'a', 45}, {'b', 27}, {'d', 24}},
     {DType::f64},
     kAny,
     kNone,
     "tile a:32; tile c:16; tile b:8; order task a0 c0 sum b0; stage A at b0 async a b pad 2; stage B at b0 async b c;"
     "atom m16n8k8_f64 rows a columns c depth b warps 1x2 runs 1x1x2; store shared; nontemporal; pipeline b0 2"},
    {"da,db->ba",  // the same along the rows
     {{'a', 51}, {'b', 40}, {'d', 24}},
     {DType::f64},
     kOne,
     kNone,
     "tile b:24; tile c:24; order task c0 b0; stage A at b0 async a b pad 4; stage B at b0 async a c pad 4;"
     "atom m16n8k8_f64 rows c columns b depth a warps 1x1 runs 2x1x1; store shared"},
    {"cabd,de->cbae",  // the same of several axes, of which one has a single value in a tile
     {{'a', 5}, {'b', 7}, {'c', 3}, {'d', 8}, {'e', 9}},
     {DType::f64},
     kOne,
     kNone,
     "tile c:1; order task c0; stage A at c0 async a c b d pad 2; stage B at c0 async d e;"
     "atom m16n8k8_f64 rows a c b columns e depth d warps 1x2 runs 1x1x1; store shared"},
    {"ad,db->ab",  // the same by vectors
     {{'a', 64}, {'b', 64}, {'d', 16}},
     {DType::f32},
     kAny,
     kNone,
     "tile a:32; tile c:32; tile b:8; order task a0 c0 sum b0; stage A at b0 async b a pad 4;"
     "stage B at b0 async b c pad 4; atom fma rows a columns c depth b warps 1x2 runs 4x4x1; store shared; nontemporal;"
     "pipeline b0 2"},
    {"ad,db->ab",  // the same of halves
     {{'a', 48}, {'b', 36}, {'d', 32}},
     {DType::bf16, DType::bf16, DType::bf16},
     kOne,
     kNone,
     "tile a:32; tile c:24; tile b:16; order task a0 c0 sum b0; stage A at b0 async a b pad 8;"
     "stage B at b0 async b c pad 8; atom m16n8k16_bf16 rows a columns c depth b warps 2x1 runs 1x1x2; store shared;"
     "pipeline b0 2"},
    {"ad,db->ab",  // the same of complex numbers on tensor cores
     {{'a', 20}, {'b', 11}, {'d', 8}},
     {DType::c128},
     kAny,
     kNone,
     "tile a:16; tile c:8; order task a0 c0; stage A at c0 async a b; stage B at c0 async b c;"
     "atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1; store shared; nontemporal"},
    {"ad,db->ab",  // a long sum in parts, of a block of the cluster each, with ragged edges
     {{'a', 50}, {'b', 38}, {'d', 250}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:32; tile c:16; tile b:64:16; order task a0 c0 cluster b0 sum b1; stage A at b1 async a b pad 4;"
     "stage B at b1 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b1 3"},
    {"ad,db->ba",  // parts that are one stage each; the output's neighbours are rows, whole vectors of them
     {{'a', 64}, {'b', 16}, {'d', 48}},
     {DType::f32},
     kAny,
     kNone,
     "tile a:24; order cluster a0; stage A at a0 async a b pad 4; stage B at a0 async a c pad 4;"
     "atom fma rows b columns c depth a warps 1x2 runs 2x4x1"},
    {"ad,db->ab",  // parts of complex sums on tensor cores
     {{'a', 20}, {'b', 11}, {'d', 40}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:16; tile c:8; tile b:24:8; order task a0 c0 cluster b0 sum b1; stage A at b1 async a b; stage B at b1 "
     "async "
     "b c; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1"},
    {"ad,db->ab",  // parts of sums that tasks add to the result, in any order
     {{'a', 50}, {'b', 38}, {'d', 250}},
     {DType::f64},
     kAny,
     kOne,
     "tile a:32; tile c:16; tile b:64:16; order task b0 a0 c0 sum b1; stage A at b1 async a b pad 4;"
     "stage B at b1 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; store atomic;"
     "pipeline b1 3"},
    {"ad,db->ba",  // the same by multiply-adds, and rounds of a task that add on their own
     {{'a', 40}, {'b', 32}, {'d', 96}},
     {DType::f32},
     kOne,
     kOne,
     "tile a:48:16; order task a0 serial a1; stage A at a1 async a b pad 4; stage B at a1 async a c pad 4;"
     "atom fma rows b columns c depth a warps 1x2 runs 2x4x1; store atomic"},
    {"hbgd,hcga->dcba",  // rows, columns and depth of two indices each that are one, with tiles that end inside of them
     {{'a', 6}, {'b', 6}, {'c', 7}, {'d', 3}, {'g', 5}, {'h', 9}},
     {DType::f64},
     kAny,
     kAny,
     "join bd b d; join ef e f; join ac a c; tile bd:16; tile ef:16; tile ac:16; order task bd0 ef0 sum ac0;"
     "stage A at ac0 async ac bd pad 4; stage B at ac0 async ac ef pad 4;"
     "atom m16n8k8_f64 rows bd columns ef depth ac warps 1x2 runs 2x1x1; pipeline ac0 3"},
    {"hbgd,hcga->dcba",  // the same results through shared memory
     {{'a', 6}, {'b', 6}, {'c', 7}, {'d', 3}, {'g', 5}, {'h', 9}},
     {DType::f64},
     kOne,
     kNone,
     "join bd b d; join ef e f; join ac a c; tile bd:16; tile ef:16; tile ac:8; order task bd0 ef0 sum ac0;"
     "stage A at ac0 async ac bd pad 4; stage B at ac0 async ac ef pad 4;"
     "atom m16n8k8_f64 rows bd columns ef depth ac warps 1x1 runs 1x1x1; store shared; pipeline ac0 2"},
    {"hbgd,hcga->dcba",  // by multiply-adds, neighbours of an index as far as it goes: vectors of two
     {{'a', 6}, {'b', 6}, {'c', 7}, {'d', 3}, {'g', 5}, {'h', 9}},
     {DType::f32},
     kAny,
     kAny,
     "join ef e f; join ac a c; tile ef:16; tile ac:4; order task b ef0 sum ac0;"
     "stage A at ac0 async ac d; stage B at ac0 async ac ef;"
     "atom fma rows d columns ef depth ac warps 1x1 runs 1x4x1"},
    {"hbgd,hcga->dcba",  // parts of sums of a cluster
     {{'a', 6}, {'b', 6}, {'c', 7}, {'d', 3}, {'g', 5}, {'h', 9}},
     {DType::f64},
     kAny,
     kAny,
     "join bd b d; join ef e f; tile bd:16; tile ef:16; tile a:3; tile c:8; order task bd0 ef0 cluster a0 sum c0 a;"
     "stage A at a async c bd pad 4; stage B at a async c ef pad 4;"
     "atom m16n8k8_f64 rows bd columns ef depth c warps 1x2 runs 1x1x1; pipeline a 2"},
    {"hbgd,hcga->dcba",  // halves, which are no copies of whole words
     {{'a', 6}, {'b', 6}, {'c', 7}, {'d', 3}, {'g', 5}, {'h', 9}},
     {DType::f16, DType::f16, DType::f32},
     kOne,
     kNone,
     "join bd b d; join ef e f; join ac a c; tile bd:16; tile ef:8; tile ac:16; order task bd0 ef0 sum ac0;"
     "stage A at ac0 shared bd ac pad 8; stage B at ac0 shared ef ac pad 8;"
     "atom m16n8k16_f16 rows bd columns ef depth ac warps 1x1 runs 1x1x2"},
    {"ad,db->ab",  // parts of halves by warp groups
     {{'a', 100}, {'b', 32}, {'d', 256}},
     {DType::bf16, DType::bf16, DType::bf16},
     kOne,
     kNone,
     "tile a:64; tile b:64:32; order task a0 cluster b0 sum b1; stage A at b1 async a b;"
     "stage B at b1 async b c; atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b1 2"},
    {"ad,db->ab",  // sums of the last six of 24 tiles in two parts, ragged everywhere
     {{'a', 100}, {'b', 90}, {'d', 250}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:32; tile c:16; tile b:128:16; order task a0 c0 cluster b0 last 6 sum b1; stage A at b1 async a b pad 4;"
     "stage B at b1 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b1 3"},
    {"ad,db->ba",  // of the last tile in four parts of one round each, the last one shorter; results of one index alone
     {{'a', 70}, {'b', 16}, {'d', 60}},
     {DType::f32},
     kAny,
     kNone,
     "tile c:16; tile a:16:16; order task c0 cluster a0 last 1 sum a1; stage A at a1 async a b pad 4;"
     "stage B at a1 async a c pad 4; atom fma rows b columns c depth a warps 1x2 runs 2x4x1"},
    {"ad,db->ab",  // of halves in three parts, the last one of fewer rounds; fragments read ahead, results converted
     {{'a', 96}, {'b', 60}, {'d', 128}},
     {DType::f16, DType::f16, DType::bf16},
     kAny,
     kAny,
     "tile a:32; tile c:32; tile b:48:16; order task c0 a0 cluster b0 last 3 sum b1; stage A at b1 async a b pad 8;"
     "stage B at b1 async b c pad 8; atom m16n8k16_f16 rows a columns c depth b warps 2x1 runs 1x1x2;"
     "pipeline b1 2 prefetch"},
    {"ad,db->ab",  // of complex numbers, in loops without a pipeline
     {{'a', 40}, {'b', 11}, {'d', 40}},
     {DType::c128},
     kAny,
     kAny,
     "tile a:16; tile c:8; tile b:24:8; order task a0 c0 cluster b0 last 2 sum b1; stage A at b1 async a b;"
     "stage B at b1 async b c; atom m16n8k8_f64 rows a columns c depth b warps 1x1 runs 1x1x1"},
    {"hbgd,hcga->dcba",  // of joined rows and columns, by three loops of which the outermost one has the parts
     {{'a', 6}, {'b', 6}, {'c', 7}, {'d', 3}, {'g', 5}, {'h', 9}},
     {DType::f64},
     kAny,
     kAny,
     "join bd b d; join ef e f; tile bd:16; tile ef:16; tile a:6:3; tile c:8;"
     "order task bd0 ef0 cluster a0 last 2 sum a1 c0 a; stage A at a async c bd pad 4; stage B at a async c ef pad 4;"
     "atom m16n8k8_f64 rows bd columns ef depth c warps 1x2 runs 1x1x1; pipeline a 2"},
    {"ad,db->ab",  // of halves by warp groups; other results leave line by line
     {{'a', 200}, {'b', 128}, {'d', 256}},
     {DType::bf16, DType::bf16, DType::bf16},
     kOne,
     kNone,
     "tile a:64; tile c:64; tile b:128:32; order task a0 c0 cluster b0 last 2 sum b1; stage A at b1 async a b;"
     "stage B at b1 async b c; atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; pipeline b1 4"},
    {"ad,db->ab",  // by tensor maps and copies of threads; other results through shared memory
     {{'a', 96}, {'b', 48}, {'d', 128}},
     {DType::f64},
     kAny,
     kNone,
     "tile a:32; tile c:16; tile b:64:16; order task a0 c0 cluster b0 last 3 sum b1; stage A at b1 maps a b;"
     "stage B at b1 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; store shared;"
     "pipeline b1 3"},
    {"ad,db->ab",  // both by tensor maps, in parts of four rounds and of three, whose boxes end inside of the tensors
     {{'a', 96}, {'b', 48}, {'d', 112}},
     {DType::f64},
     kAny,
     kNone,
     "tile a:32; tile c:16; tile b:64:16; order task a0 c0 cluster b0 last 3 sum b1; stage A at b1 maps a b;"
     "stage B at b1 maps b c; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x2; pipeline b1 2"},
    {"ad,bd->ab",  // warp groups in tf32, which blocks round when they stage it: ragged, sums that are added to
     {{'a', 120}, {'b', 40}, {'d', 100}},
     {DType::f32},
     kAny,
     kAny,
     "tile a:64; tile b:32; order task a0 sum b0; stage A at b0 shared a b; stage B at b0 async c b;"
     "atom wgmma_tf32 rows a columns c depth b warps 4x1 runs 1x1x1; pipeline b0 4",
     Precision::tf32},
    {"ad,bd->ab",  // warp groups in bytes: by tensor maps, both ragged along the sides, added to
     {{'a', 120}, {'b', 48}, {'d', 208}},
     {DType::i8, DType::i8, DType::i32},
     kOne,
     kAny,
     "tile a:64; tile c:32; tile b:64; order task a0 c0 sum b0; stage A at b0 maps a b; stage B at b0 maps c b;"
     "atom wgmma_i8 rows a columns c depth b warps 4x1 runs 1x1x4; pipeline b0 3"},
    {"da,bd->ab",  // rows' operand in registers, rounded there: along its side, ragged, in a loop around the pipeline
     {{'a', 120}, {'b', 40}, {'d', 100}},
     {DType::f32},
     kAny,
     kAny,
     "tile b:64; tile a:32; order task b0 sum a0; stage A at a0 async a b pad 8; stage B at a0 shared c a;"
     "atom wgmma_rs_tf32 rows b columns c depth a warps 4x1 runs 1x1x1; pipeline a0 3",
     Precision::tf32},
    {"xad,xdb->ab",  // the same by matrix loads, in a loop around the pipeline; results through shared memory
     {{'x', 3}, {'a', 72}, {'b', 48}, {'d', 64}},
     {DType::bf16},
     kOne,
     kNone,
     "tile b:64; tile d:48:16; tile c:32; order task b0 sum a c0; stage A at c0 async b c pad 8;"
     "stage B at c0 async d1 c d; atom wgmma_rs_bf16 rows b columns d1 d depth c warps 4x1 runs 1x1x2; store shared; "
     "nontemporal;"
     "pipeline c0 4"},
    {"da,bd->ba",  // the same of rows that are neighbours in the result, which leave strip by strip of columns
     {{'a', 120}, {'b', 48}, {'d', 100}},
     {DType::f32},
     kOne,
     kNone,
     "tile c:64; tile b:32; order task c0 sum b0; stage A at b0 shared a b; stage B at b0 async b c pad 8;"
     "atom wgmma_rs_tf32 rows c columns a depth b warps 4x1 runs 1x1x1; pipeline b0 4",
     Precision::tf32},
    {"da,bd->ba",  // the same with the other operand first, whose bytes are no multiple of what rows are swizzled by
     {{'a', 120}, {'b', 48}, {'d', 100}},
     {DType::f32},
     kOne,
     kNone,
     "tile c:64; tile b:32; order task c0 sum b0; stage B at b0 async b c pad 9; stage A at b0 shared a b;"
     "atom wgmma_rs_tf32 rows c columns a depth b warps 4x1 runs 1x1x1; pipeline b0 4",
     Precision::tf32},
    {"ad,bd->ba",  // the same of halves: one strip, fewer columns than products have
     {{'a', 256}, {'b', 60}, {'d', 96}},
     {DType::bf16},
     kAny,
     kNone,
     "tile c:128; tile b:32; order task c0 sum b0; stage A at b0 async a b; stage B at b0 async c b pad 8;"
     "atom wgmma_rs_bf16 rows c columns a depth b warps 8x1 runs 1x1x2; nontemporal; pipeline b0 3"},
    {"abc,dbec->ade",  // rounds of two digits, whose plain copies begin where a remainder is: see opaque()
     {{'a', 400}, {'b', 6}, {'c', 96}, {'d', 4}, {'e', 16}},
     {DType::f32},
     kOne,
     kNone,
     "tile a:192; tile d:2; tile b:1; tile c:32; order task a0 d0 sum b0 c0; stage A at c0 shared a b c;"
     "stage B at c0 shared d e b c; atom wgmma_bf16 rows a columns d e depth b c warps 12x1 runs 1x1x2; pipeline c0 6",
     Precision::bf16},
    {"aed,bde->ab",  // each operand in an order of its own along the depth, which ends inside of a tile
     {{'a', 40}, {'b', 24}, {'d', 18}, {'e', 10}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:16; tile b:10:2; tile c:8:2; order task a0 sum c0; stage A at c0 async a b1 b c1 c pad 4;"
     "stage B at c0 async d c1 c b1 b pad 4; atom m16n8k8_f64 rows a columns d depth b1 c1 b c warps 1x2 runs 1x1x1;"
     "pipeline c0 2"},
    {"ad,bd->ab",  // tiles in turns: one operand is copied once, and parts of the other one ahead of their products
     {{'a', 256}, {'b', 24}, {'d', 32}},
     {DType::bf16},
     kOne,
     kNone,
     "tile a:64:16; order task a0 serial a1; stage B at a0 async c b pad 8; stage A at a1 async a b pad 8;"
     "atom m16n8k16_bf16 rows a columns c depth b warps 1x1 runs 1x2x2; nontemporal; pipeline a1 2"},
    {"da,db->ba",  // the same of columns, whose results leave through shared memory
     {{'a', 384}, {'b', 40}, {'d', 32}},
     {DType::f16},
     kOne,
     kNone,
     "tile c:192:64; order task c0 serial c1; stage A at c0 async a b pad 8; stage B at c1 async a c pad 8;"
     "atom m16n8k16_f16 rows b columns c depth a warps 1x2 runs 1x1x2; store shared; nontemporal; pipeline c1 3"},
    {"ad,db->ab",  // tiles in turns of several rounds, by maps: rounds of the next tile are copied while one is written
     {{'a', 320}, {'b', 128}, {'d', 96}},
     {DType::bf16},
     kOne,
     kNone,
     "tile a:192:64; tile c:64; tile b:32; order task c0 a0 serial a1 sum b0; stage A at b0 maps a b;"
     "stage B at b0 maps b c; atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; nontemporal; pipeline b0 "
     "4"},
    {"ad,db->ab",  // the same beside columns that stay, of a depth that ends inside of a round
     {{'a', 320}, {'b', 64}, {'d', 104}},
     {DType::bf16},
     kOne,
     kNone,
     "tile a:128:64; tile b:32; order task a0 serial a1 sum b0; stage A at b0 maps a b; stage B at a0 async b0 b c;"
     "atom wgmma_bf16 rows a columns c depth b warps 4x1 runs 1x1x2; nontemporal; pipeline b0 3"},
    {"abd,dbc->ac",  // the same by copies of threads, in rounds of two loops
     {{'a', 100}, {'b', 3}, {'c', 40}, {'d', 24}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:64:16; tile d:16; tile c:8; order task d0 a0 serial a1 sum b c0; stage A at c0 async a c pad 4;"
     "stage B at c0 async c d pad 4; atom m16n8k8_f64 rows a columns d depth c warps 1x1 runs 1x1x1; pipeline c0 3"},
    {"ad,db->ab",  // the next tile's first fragments are read before results are written, through shared memory
     {{'a', 192}, {'b', 32}, {'d', 48}},
     {DType::f64},
     kOne,
     kNone,
     "tile a:192:64; tile c:32; tile b:16; order task a0 serial a1 sum b0; stage A at b0 async a b pad 4;"
     "stage B at b0 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x1; store shared;"
     "pipeline b0 3 prefetch"},
    {"ad,db->ab",  // the same with copies between the steps of products, the last tiles missing and ragged
     {{'a', 150}, {'b', 72}, {'d', 72}},
     {DType::f64},
     kAny,
     kAny,
     "tile a:128:32; tile c:72; tile b:24; order task a0 serial a1 sum b0; stage A at b0 async a b pad 4;"
     "stage B at b0 async b c pad 4; atom m16n8k8_f64 rows a columns c depth b warps 2x1 runs 1x1x1;"
     "pipeline b0 3 prefetch"},
    {"ad,db->ab",  // the same by maps, of multiply-adds
     {{'a', 128}, {'b', 64}, {'d', 48}},
     {DType::f32},
     kOne,
     kNone,
     "tile a:128:32; tile c:64; tile b:16; order task a0 serial a1 sum b0; stage A at b0 maps a b;"
     "stage B at b0 maps b c; atom fma rows a columns c depth b warps 1x4 runs 4x4x1; pipeline b0 2"},
    {"ad,db->ab",  // the same of fragments that are read ahead
     {{'a', 128}, {'b', 64}, {'d', 48}},
     {DType::f64},
     kOne,
     kNone,
     "tile a:128:32; tile c:32; tile b:16; order task c0 a0 serial a1 sum b0; stage A at b0 maps a b;"
     "stage B at b0 maps b c; atom m16n8k8_f64 rows a columns c depth b warps 1x2 runs 1x1x1; pipeline b0 3 prefetch"},
};

}  // namespace

ContractionCase WrittenContraction::made() const {
  auto problem = problem_of(spec, extents, types);
  problem.alpha = alpha;
  problem.beta = beta;
  problem.precision = precision;
  auto made = ir::in_precision(ir::sequence_of(ir::lower(problem)), precision);
  auto program = ir::canonicalise(std::move(made.steps.front().program));
  program.precision = kernel::effective_precision(program, precision, 90);
  return {std::move(program), kernel::parse_directives(directives)};
}

const std::vector<WrittenContraction>& written_contractions() { return kCases; }

}  // namespace ricci::simt
