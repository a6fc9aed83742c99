// Package histograms has the encodings of histograms (HdrHistogram's text, .hgrm and .hlog
// files), the order statistics of a histogram, and the coarser histograms that a run keeps
// over time: blocks for resampling and bands for sums.
//
// Readers of a result do not need it: package result has the figures. It is for writers of
// results, for the judge, and for the exchange of histograms with other tools.
package histograms
