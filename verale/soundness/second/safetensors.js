// Safetensors files: the header's rules, and the numbers of a tensor.

const DTYPE_BYTES = {
  BOOL: 1,
  U8: 1,
  I8: 1,
  F8_E4M3: 1,
  F8_E5M2: 1,
  U16: 2,
  I16: 2,
  F16: 2,
  BF16: 2,
  U32: 4,
  I32: 4,
  F32: 4,
  U64: 8,
  I64: 8,
  F64: 8,
};

// Reads a file into {metadata, tensors}. metadata is a Map of strings, or null. A tensor has dtype, shape and bytes.
function readSafetensors(bytes) {
  refuseUnless(bytes.length >= 8, "fewer than 8 bytes");
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  refuseUnless(length <= BigInt(4 * MEBIBYTE) && length <= BigInt(bytes.length - 8), "a header that is too long");
  const start = 8 + Number(length);
  refuseUnless(bytes[8] === 0x7b && length > 0n, "a header that does not begin with {");
  const header = parseJsonBytes(bytes.subarray(8, start), 4);
  const tensors = new Map();
  let metadata = null;
  for (const [name, entry] of header) {
    if (name === "__metadata__") {
      refuseUnless(
        entry instanceof Map && [...entry.values()].every((x) => typeof x === "string"),
        "metadata that are not strings",
      );
      metadata = entry;
    } else tensors.set(name, readEntry(entry));
  }
  const ordered = [...tensors.values()].sort((s, t) =>
    s.begin < t.begin ? -1 : s.begin > t.begin ? 1 : s.end < t.end ? -1 : s.end > t.end ? 1 : 0,
  );
  let border = 0n;
  for (const tensor of ordered) {
    refuseUnless(tensor.begin === border, "a hole or an overlap");
    border = tensor.end;
  }
  refuseUnless(border === BigInt(bytes.length - start), "tensors that do not end where the file ends");
  for (const tensor of ordered) tensor.bytes = bytes.subarray(start + Number(tensor.begin), start + Number(tensor.end));
  return {metadata, tensors};
}

function readEntry(entry) {
  objectWith(entry, ["dtype", "shape", "data_offsets"]);
  const dtype = stringOf(entry.get("dtype"));
  refuseUnless(Object.prototype.hasOwnProperty.call(DTYPE_BYTES, dtype), "an unknown dtype");
  const shape = listOf(entry.get("shape"), (x) => integerFrom(x, 0n));
  refuseUnless(shape.length <= 8, "more than 8 dimensions");
  const offsets = listOf(entry.get("data_offsets"), (x) => integerFrom(x, 0n));
  refuseUnless(offsets.length === 2, "offsets that are not two");
  const [begin, end] = offsets;
  refuseUnless(
    end - begin === shape.reduce((x, y) => x * y, 1n) * BigInt(DTYPE_BYTES[dtype]),
    "a size that is not the shape's",
  );
  return {dtype, shape, begin, end};
}

// The values of an F32 or F64 tensor as binary64. All have to be finite.
function floatsOf(tensor) {
  refuseUnless(tensor.dtype === "F32" || tensor.dtype === "F64", "a tensor that is not F32 or F64");
  const size = DTYPE_BYTES[tensor.dtype];
  const view = new DataView(tensor.bytes.buffer, tensor.bytes.byteOffset, tensor.bytes.length);
  const values = new Float64Array(tensor.bytes.length / size);
  for (let i = 0; i < values.length; i += 1) {
    values[i] = size === 4 ? view.getFloat32(4 * i, true) : view.getFloat64(8 * i, true);
    refuseUnless(Number.isFinite(values[i]), "a value that is not finite");
  }
  return values;
}

const FLOAT_VIEW = new DataView(new ArrayBuffer(8));

// The exact value of a finite binary64.
function exactFloat(x) {
  if (x === 0) return ZERO;
  FLOAT_VIEW.setFloat64(0, x);
  const bits = FLOAT_VIEW.getBigUint64(0);
  const exponent = Number((bits >> 52n) & 0x7ffn);
  let n = bits & 0xfffffffffffffn;
  if (exponent > 0) n |= 1n << 52n;
  let k = Math.max(exponent, 1) - 1075;
  while ((n & 0xffn) === 0n) {
    n >>= 8n;
    k += 8;
  }
  return dyadic(bits >> 63n ? -n : n, k);
}
