// Matching of reads against a suffix tree: for each base of each read, the longest match that begins there.
#include "warpwatt.cuh"

// An edge and the node at its end. The edge's label is text[start .. end]; `depth` bases spell the path from the root.
// link: the node whose path is this node's without its first base (the root's is the root; a leaf has none: -1).
struct Node {
  int child[4];
  int start, end, link, depth;
};

// A thread per read; reads lie end to end in `bases`. Having matched as far as it goes from one base, the thread follows
// the link of the last node that it passed and goes on from there for the next base.
extern "C" __global__ void mummer_match(const Node *nodes, const unsigned char *text, const unsigned char *bases,
                                        const int *begin, int *lengths, int *places, int reads) {
  int read = blockIdx.x * blockDim.x + threadIdx.x;
  if (read >= reads) return;
  int last = begin[read + 1], at = 0;
  for (int from = begin[read]; from < last; ++from) {
    int next = from + nodes[at].depth;
    int seen = nodes[at].end;  // the match ends here in the text
    while (next < last) {
      int down = nodes[at].child[bases[next]];
      if (down < 0) break;
      int end = nodes[down].end;
      seen = nodes[down].start;
      while (seen < end && next < last && text[seen] == bases[next]) {
        ++seen;
        ++next;
      }
      if (seen < end || nodes[down].link < 0) break;
      at = down;
    }
    int length = next - from;
    lengths[from] = length;
    places[from] = seen - length;
    at = nodes[at].link;
  }
}
