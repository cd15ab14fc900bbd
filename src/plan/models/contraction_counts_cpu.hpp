// What a contraction by register tiles does on a CPU, counted: what its prediction is made of.
#pragma once

namespace ricci::plan {

/// Whole numbers, of all tasks together and of one product of the batch.
struct CpuContractionCounts {
  struct Operand {
    double elements = 0;  ///< that it has
    double packed = 0;    ///< times that each of them is packed; 0: tiles read them in place
    double passes = 0;    ///< times that tiles read each of them
  };
  double batch = 1;  ///< products of it
  Operand rows, columns;
  double results = 0;  ///< elements of the result,
  double parts = 1;    ///< of which each is a sum in so many parts: written, and all but for the first one read before

  double tiles = 0;  ///< register tiles that are summed, those of each part of the sum for themselves
  double tile_rows = 0, tile_columns = 0;  ///< of each
  double rounds = 0;                       ///< of each: terms, with what is past the end of an index
  double sums = 0;     ///< of each round: rows, of complex numbers their real and their imaginary parts; each is loaded
  double vectors = 0;  ///< of each round: vectors of columns; each is loaded, and multiplied with all of `sums`
  double stores = 0;   ///< of each tile: vectors of results, or single ones, with what is past the end of an index
  double pieces = 1;   ///< of each vector of results: runs of joined indices that it lies in, on average
};

}  // namespace ricci::plan
