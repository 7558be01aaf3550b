// Stage 3: a lower bound of o_predicted - o_c from ranges of the activations.
// low(j) and high(j) give the ends of an activation. The result is an interval that holds the bound.

function marginBound(head, predicted, c, low, high) {
  if (head.readout.kind === "soft_tree") return treeMargin(head, predicted, c, low, high);
  if (head.readout.kind === "maximum") return maximumMargin(head, predicted, c, low, high);
  const terms = [exactly(subtract(head.bias[predicted], head.bias[c]))];
  for (let j = 0; j < head.size; j += 1) {
    const d = subtract(head.weight[predicted][j], head.weight[c][j]);
    if (d.n !== 0n) terms.push(scaleInterval(d.n > 0n ? low(j) : high(j), d));
  }
  return sumOf(terms);
}

function treeMargin({weight, readout}, predicted, c, low, high) {
  const cut = (x) => greaterInterval(NOTHING, lesserInterval(exactly(ONE), x));
  const values = [];
  const valueOf = (child) =>
    child < 0 ? exactly(subtract(weight[predicted][-1 - child], weight[c][-1 - child])) : values[child];
  // Children are greater than their node, so they come first in this order.
  for (let i = readout.absent.length - 1; i >= 0; i -= 1) {
    const absent = valueOf(readout.absent[i]),
      present = valueOf(readout.present[i]);
    const step = subtractIntervals(present, absent);
    const at = (a) => addIntervals(absent, multiplyIntervals(cut(a), step));
    values[i] = lesserInterval(at(low(i)), at(high(i)));
  }
  return values[0];
}

function maximumMargin({weight, bias, size}, predicted, c, low, high) {
  const best = (row, end) => {
    const own = Array.from({length: size}, (_, j) => j).filter((j) => weight[row][j].n !== 0n);
    return extremeOf(
      own.map((j) => addIntervals(end(j), exactly(bias[j]))),
      1,
    );
  };
  return subtractIntervals(best(predicted, low), best(c, high));
}
