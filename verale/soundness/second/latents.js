// The latents file ("The latents"): its images, their digests, and the exact values of one.

// Reads {count, length, depth, at}. at(n, l, d) is a binary64.
function readLatents(bytes, head) {
  const {tensors} = readSafetensors(bytes);
  refuseUnless(tensors.has("latents"), "no latents");
  const tensor = tensors.get("latents");
  const shape = tensor.shape;
  refuseUnless(shape.length === 3 || shape.length === 4, "latents of another number of dimensions");
  const grid = shape.length === 4;
  const length = grid ? shape[2] * shape[3] : shape[1];
  refuseUnless(
    shape[grid ? 1 : 2] === BigInt(head.depth) && length >= 1n,
    "latents of another depth, or without a patch",
  );
  const values = floatsOf(tensor);
  const count = Number(shape[0]),
    depth = head.depth,
    patches = Number(length);
  const at = (n, l, d) => values[grid ? (n * depth + d) * patches + l : (n * patches + l) * depth + d];
  return {count, length, depth, at};
}

function latentsDigest(latents, n) {
  const line = `verale.latents.v1 ${latents.length} ${latents.depth}\n`;
  const size = Number(latents.length) * latents.depth;
  const bytes = new Uint8Array(line.length + 8 * size);
  for (let i = 0; i < line.length; i += 1) bytes[i] = line.charCodeAt(i);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < size; i += 1) {
    view.setFloat64(line.length + 8 * i, latents.at(n, Math.floor(i / latents.depth), i % latents.depth), true);
  }
  return sha256(bytes);
}

// The exact latents of image n: a list of patches, each a list of numbers.
function imageOf(latents, n) {
  return Array.from({length: Number(latents.length)}, (_, l) =>
    Array.from({length: latents.depth}, (__, d) => exactFloat(latents.at(n, l, d))),
  );
}
