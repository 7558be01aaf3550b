// A strict reader of JSON, with the limits of the text ("Files", JSON).
// Objects become Maps, integers BigInts. It throws Invalid.

class Invalid extends Error {}

function refuseUnless(condition, message) {
  if (!condition) throw new Invalid(message);
}

const MEBIBYTE = 1 << 20;

// The text of UTF-8 bytes. Nothing is replaced: an overlong form, a surrogate or a cut is invalid.
function decodeUtf8(bytes) {
  const parts = [];
  let codes = [];
  for (let i = 0; i < bytes.length;) {
    const first = bytes[i];
    const more =
      first < 0x80
        ? 0
        : first >= 0xc2 && first < 0xe0
          ? 1
          : (first & 0xf0) === 0xe0
            ? 2
            : first >= 0xf0 && first < 0xf5
              ? 3
              : -1;
    refuseUnless(more >= 0 && i + more < bytes.length, "invalid UTF-8");
    let code = more === 0 ? first : first & (0x3f >> more);
    for (let j = 1; j <= more; j += 1) {
      refuseUnless((bytes[i + j] & 0xc0) === 0x80, "invalid UTF-8");
      code = (code << 6) | (bytes[i + j] & 0x3f);
    }
    refuseUnless(
      more < 2 || (code >= (more === 2 ? 0x800 : 0x10000) && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)),
      "invalid UTF-8",
    );
    codes.push(code);
    if (codes.length === 4096) {
      parts.push(String.fromCodePoint(...codes));
      codes = [];
    }
    i += more + 1;
  }
  parts.push(String.fromCodePoint(...codes));
  return parts.join("");
}

function parseJsonBytes(bytes, mebibytes) {
  refuseUnless(bytes.length <= mebibytes * MEBIBYTE, "too long");
  return parseJson(decodeUtf8(bytes));
}

const JSON_ESCAPES = {'"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t"};

function parseJson(text) {
  let at = 0,
    count = 0,
    depth = 0;

  function skipSpace() {
    while (at < text.length && " \t\n\r".includes(text[at])) at += 1;
  }

  function counted() {
    count += 1;
    refuseUnless(count <= 1 << 19, "more than 2^19 strings, commas and brackets");
  }

  // Takes a character that has to come.
  function take(character) {
    refuseUnless(text[at] === character, `no ${character} at ${at}`);
    at += 1;
  }

  function readString() {
    counted();
    take('"');
    const parts = [];
    for (let start = at; ; at += 1) {
      const c = text[at];
      refuseUnless(c !== undefined && c >= " ", "a string without its end, or a control character in it");
      if (c !== '"' && c !== "\\") continue;
      parts.push(text.slice(start, at));
      at += 1;
      if (c === '"') break;
      const escape = text[at];
      if (escape === "u") {
        const digits = text.slice(at + 1, at + 5);
        refuseUnless(/^[0-9a-fA-F]{4}$/.test(digits), "an escape without four hex digits");
        parts.push(String.fromCharCode(parseInt(digits, 16)));
        at += 4;
      } else {
        refuseUnless(
          escape !== undefined && Object.prototype.hasOwnProperty.call(JSON_ESCAPES, escape),
          "an unknown escape",
        );
        parts.push(JSON_ESCAPES[escape]);
      }
      start = at + 1;
    }
    const value = parts.join("");
    refuseUnless(!/[\ud800-\udfff]/u.test(value), "a lone surrogate");
    return value;
  }

  function readInteger() {
    const match = /-?(0|[1-9][0-9]*)/y;
    match.lastIndex = at;
    const found = match.exec(text);
    refuseUnless(found !== null, `no value at ${at}`);
    at += found[0].length;
    refuseUnless(!/[.eE0-9]/.test(text[at] || " "), "a number that is not an integer");
    refuseUnless(found[1].length <= 18, "an integer of more than 18 digits");
    return BigInt(found[0]);
  }

  // What stands between two brackets, commas between.
  function readItems(open, close, readItem) {
    take(open);
    counted();
    depth += 1;
    refuseUnless(depth <= 16, "more than 16 open brackets");
    skipSpace();
    if (text[at] !== close) {
      for (;;) {
        skipSpace();
        readItem();
        skipSpace();
        if (text[at] !== ",") break;
        at += 1;
        counted();
      }
    }
    take(close);
    counted();
    depth -= 1;
  }

  function readValue() {
    const c = text[at];
    if (c === '"') return readString();
    if (c === "{") {
      const object = new Map();
      readItems("{", "}", () => {
        const key = readString();
        refuseUnless(!object.has(key), `the key ${key} twice`);
        skipSpace();
        take(":");
        skipSpace();
        object.set(key, readValue());
      });
      return object;
    }
    if (c === "[") {
      const list = [];
      readItems("[", "]", () => list.push(readValue()));
      return list;
    }
    for (const [word, value] of [
      ["true", true],
      ["false", false],
      ["null", null],
    ]) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return value;
      }
    }
    return readInteger();
  }

  skipSpace();
  refuseUnless(text[at] === "{", "no object");
  const value = readValue();
  skipSpace();
  refuseUnless(at === text.length, "something after the object");
  return value;
}

// Checks of what was read.

function objectWith(value, required, optional = []) {
  refuseUnless(value instanceof Map, "no object where one has to be");
  for (const key of required) refuseUnless(value.has(key), `no field ${key}`);
  for (const key of value.keys())
    refuseUnless(required.includes(key) || optional.includes(key), `an unknown field ${key}`);
  return value;
}

function listOf(value, read) {
  refuseUnless(Array.isArray(value), "no list where one has to be");
  return value.map(read);
}

function integerFrom(value, least) {
  refuseUnless(typeof value === "bigint" && value >= least, `no integer from ${least}`);
  return value;
}

function stringOf(value) {
  refuseUnless(typeof value === "string", "no string where one has to be");
  return value;
}

// The exact value of a hex float.
function hexFloat(value) {
  const match = /^(-?)0x([01])(?:\.([0-9a-f]{1,13}))?p([+-][0-9]{1,4})$/.exec(stringOf(value));
  refuseUnless(match !== null, "no hex float");
  const digits = match[3] || "";
  const number = dyadic(BigInt(`0x${match[2]}${digits}`) * (match[1] ? -1n : 1n), Number(match[4]) - 4 * digits.length);
  refuseUnless(isWhole(multiply(number, dyadic(1n, 1074))), "a hex float below 2^-1074");
  refuseUnless(
    compare(number, dyadic(1n, 1024)) < 0 && compare(number, dyadic(-1n, 1024)) > 0,
    "a hex float beyond binary64",
  );
  return number;
}

function isWhole(x) {
  return x.d === 1n && (x.k >= 0 || (x.n >> BigInt(-x.k)) << BigInt(-x.k) === x.n);
}
