// Package histograms has the encodings of histograms: HdrHistogram's text and what others read
// of it (.hgrm and .hlog files), order statistics of one, and the coarser ones that a run
// keeps over time: blocks for resampling and bands for sums.
//
// Whoever reads a result needs none of it: package result has the figures. Writers of results,
// the judge and what exchanges histograms with other tools do.
package histograms
