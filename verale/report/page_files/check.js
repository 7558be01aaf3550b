// Proves a certificate again, with the checker that the page contains, in a worker, so that the page stays usable.

const ASKED = "onmessage = ({ data: [id, line] }) => postMessage([id, verale.ask(line)]);";
const waiting = new Map(); // who asked the worker what, by the number of the question
let questionsAsked = 0, worker = null;
const told = { worker: {}, here: {} }; // promises: what the worker, and the checker in the page itself, were told

// The SHA-256 of the checker's script as it stands in this page; null where the browser gives none.
async function scriptDigest() {
  if (!window.crypto || !crypto.subtle) return null;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(await inflated("checker")));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Why the checker's script in this page may not run; empty if it is the one that the verale that wrote the page put in.
async function scriptProblem() {
  const own = await scriptDigest().catch(() => "none");
  if (own === data.check.sha256) return "";
  if (own === null) return "this browser computes no SHA-256 here, so the checker’s script cannot be compared with the one that verale put in; open the page from disk";
  return "the checker’s script in this page is not the one that verale put in, so somebody replaced it (its SHA-256 is " + own + ", expected " + data.check.sha256 + ")";
}

// The worker answers in order, and certificates may ask at once: each answer goes to its question.
function ask(line) {
  return new Promise((answer, fail) => {
    waiting.set((questionsAsked += 1), { answer, fail });
    worker.postMessage([questionsAsked, line]);
  });
}

function failAll(because) {
  for (const one of waiting.values()) one.fail(new Error(because));
  waiting.clear();
}

async function started() {
  const script = await inflated("checker"), head = await inflated("head-text");
  const url = URL.createObjectURL(new Blob([script, "\n" + ASKED], { type: "text/javascript" }));
  worker = new Worker(url);
  worker.onmessage = ({ data: [id, said] }) => {
    waiting.get(id)?.answer(said);
    waiting.delete(id);
  };
  worker.onerror = (event) => failAll(event.message || "the browser does not run it");
  const said = await ask(head);
  URL.revokeObjectURL(url);
  return said;
}

// Whether a question begins with a word, or words.
const begins = (question, word) => question.startsWith(word + " ");

// Tells once what a question needs before it: the head, and before pictures the network.
async function tell(about, question, head, network) {
  const said = await (about.head ??= head());
  if (said !== "ready" || !begins(question, "pictured")) return said;
  return (about.network ??= network());
}

// What the worker says, and in how many milliseconds.
async function asked(question) {
  const said = await tell(told.worker, question, started, async () => ask(await inflated("network-text")));
  if (said !== "ready") throw new Error(said);
  const from = performance.now();
  return [await ask(question), performance.now() - from];
}

// In the page itself, which stands still meanwhile: its stack is larger than that of a worker.
async function askHere(question) {
  const head = async () => {
    const script = el("script");
    script.text = await inflated("checker"); // as it is: its digest is the one that may run
    document.head.append(script);
    return verale.ask(await inflated("head-text"));
  };
  const said = await tell(told.here, question, head, async () => verale.ask(await inflated("network-text")));
  if (said !== "ready") return said;
  await new Promise((painted) => setTimeout(painted, 100));
  return verale.ask(question);
}

function stop() {
  if (worker) worker.terminate();
  worker = null;
  told.worker = {};
  failAll("another proof was stopped");
}

function inSeconds(milliseconds) {
  return milliseconds < 10 ? "less than 0.01 s" : (milliseconds / 1000).toFixed(2) + " s";
}

// The certificate as the checker is asked about it (verale/checker/proved/text.py), in the units of that question. Where
// the question begins with it, the checker is asked about what is shown.
function certificateText(certificate, question) {
  const units = question.split(" ");
  const hex = (number) => number.toString(16);
  const list = (items) => [hex(items.length), ...items].join(" ");
  const scaled = (text, unit) => {
    const [, sign, lead, rest = "", exponent] = /^(-?)0x([01])(?:\.([0-9a-f]+))?p([+-]\d+)$/.exec(text);
    const places = BigInt(exponent) - 4n * BigInt(rest.length), whole = BigInt("0x" + lead + rest) * BigInt("0x" + unit);
    const size = places < 0n ? whole >> -places : whole << places;
    if (places < 0n && size << -places !== whole) throw new Error("a number is no multiple of " + unit);
    return hex(sign ? -size : size);
  };
  const unit = units[4];
  const statement = (one) => {
    const end = (text) => (text === null || text === undefined ? "none" : scaled(text, unit));
    if (one.rivals !== undefined) return ["sum", one.rivals === null ? "none" : "some " + list(one.rivals.map(hex)), end(one.upper)].join(" ");
    if (one.except) return ["others", list(one.except.map(hex)), end(one.lower), end(one.upper)].join(" ");
    const about = one.patch === undefined ? ["activation"] : ["patch", hex(one.patch)];
    return [...about, hex(one.prototype), ...one.interval.map(end)].join(" ");
  };
  const stated = ["certificate", hex(certificate.predicted), hex(certificate.patches), unit, list(certificate.statements.map(statement))].join(" ");
  const finer = units[stated.split(" ").length + 1];
  return [stated, finer, list(certificate.margins.map((one) => (one === null ? "0" : scaled(one, finer))))].join(" ");
}

// Whether the checker is asked about the certificate that is shown.
function asksAbout(questions, certificate) {
  const about = (question, next) => !question || begins(question, question.split(" ", 1) + " " + certificateText(certificate, question) + " " + next);
  try {
    return about(questions.entails, "prices") && about(questions.instance, "image") && about(questions.pictured, "picture");
  } catch {
    return false;
  }
}

// In words: what an answer to "entails" says, and what one to "instance".
function entailmentInWords(said, certificate, time) {
  if (said === "proved") {
    const least = certificate.margins.filter((one) => one !== null).map((one) => below(fromHex(one))).sort((a, b) => a - b)[0];
    return [el("b", {}, "Proved again, in " + time + ": "), "every latent tensor that satisfies the " + plural(certificate.statements.length, "statement") + " below is classified as ",
      ...(data.ownNames ? ["class " + certificate.predicted + ", which this page, not the head, names "] : []), named(certificate.predicted), least === undefined ? "." : ", every other class staying at least " + least + " below it, in real arithmetic."];
  }
  if (said === "not proved") return [el("b", {}, "Not proved, in " + time + ": "), "the checker does not prove that the statements below lead to the class with the stated leads. That may be false, or beyond what it can prove."];
  return [el("b", {}, "No verdict: "), el("bdi", {}, said)];
}

function instanceInWords(said, time) {
  if (said === "proved") return [el("b", {}, "Proved again, in " + time + ": "), "the image’s latents, as they stand in this page, satisfy every statement."];
  if (said === "not proved") return [el("b", {}, "Not proved, in " + time + ": "), "that the image’s latents satisfy every statement."];
  return [el("b", {}, "No verdict about the image’s latents: "), el("bdi", {}, said)];
}

// The bytes of the picture that the checker is asked about, in the order (c, y, x).
function pictureBytes(question) {
  const hex = question.trim().split(" ").pop();
  return Uint8Array.from({ length: hex.length / 2 }, (_, i) => parseInt(hex.slice(2 * i, 2 * i + 2), 16));
}

// Whether these bytes are the picture that the certificate's file names (certificates/network-v1.md, "Pictures").
async function isNamed(bytes, detail) {
  const line = new TextEncoder().encode("verale.picture.v1 " + data.check.shape.join(" ") + "\n");
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array([...line, ...bytes]));
  const own = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return JSON.parse(detail.text).subject.some((one) => one.name === "picture" && one.digest.sha256 === own);
}

// The picture as the checker reads it, byte by byte.
function drawn(bytes) {
  const [channels, height, width] = data.check.shape, pixels = new ImageData(width, height);
  for (let at = 0; at < height * width; at += 1) {
    for (let c = 0; c < 3; c += 1) pixels.data[4 * at + c] = bytes[(channels === 3 ? c * height * width : 0) + at];
    pixels.data[4 * at + 3] = 255;
  }
  const canvas = el("canvas", { class: "asked", width, height, role: "img", "aria-label": "The picture that was proved, drawn from the bytes that the checker was given" });
  canvas.getContext("2d").putImageData(pixels, 0, 0);
  return canvas;
}

function pictureInWords(said, time, entailed) {
  if (said === "proved") return [el("b", {}, "Proved again, in " + time + ": "), "from the bytes of the picture drawn here, the network’s first layers give latents that satisfy every statement" + (entailed ? ", and so the class" : "") + "; in real arithmetic, whatever machine shows it."];
  if (said === "not proved") return [el("b", {}, "Not proved, in " + time + ": "), "that the network’s first layers give latents for the picture that satisfy every statement."];
  return [el("b", {}, "No verdict about the picture: "), el("bdi", {}, said)];
}

function again(detail, certificate) {
  const questions = detail.questions;
  const answer = el("div", { role: "status", id: "answer" });
  const section = el("section", { "aria-labelledby": "again" }, el("h3", { id: "again", class: "hidden" }, "Prove it again"));
  const why = questions.why || (asksAbout(questions, certificate) ? "" : "the checker would be asked about other statements or leads than this page shows, so somebody changed the page");
  const refuse = (because) => section.replaceChildren(section.firstChild, el("p", {}, el("b", {}, "This certificate cannot be proved again here: "), el("bdi", {}, because), "."));
  if (why) {
    refuse(why);
    return section;
  }
  scriptProblem().then((because) => because && refuse(because));
  let run = 0;
  const say = (...parts) => answer.append(el("p", {}, ...parts));
  const idle = () => { run = 0; button.textContent = "Prove again, here"; };
  const timed = async (question) => {
    let [said, took] = await asked(question);
    if (said.startsWith("limit: ")) {
      answer.replaceChildren(el("p", {}, "Proving in the page itself, which stands still meanwhile …"));
      const from = performance.now();
      said = await askHere(question);
      took = performance.now() - from;
    }
    return [said, inSeconds(took)];
  };
  async function prove() {
    if (run) {
      stop();
      idle();
      answer.replaceChildren(el("p", {}, el("b", {}, "Stopped."), " Nothing is proved."));
      return;
    }
    const own = (run = performance.now());
    button.textContent = "Stop";
    answer.replaceChildren(el("p", {}, "Proving …"));
    const because = await scriptProblem(); // the script in the page is what runs now
    if (because) return refuse(because);
    const lines = [];
    try {
      const [said, time] = await timed(questions.entails);
      lines.push(entailmentInWords(said, certificate, time));
      if (questions.instance) lines.push(instanceInWords(...(await timed(questions.instance))));
      else if (questions.pictured) {
        const bytes = pictureBytes(questions.pictured);
        if (await isNamed(bytes, detail)) lines.push(pictureInWords(...(await timed(questions.pictured)), said === "proved"), [drawn(bytes)]);
        else lines.push([el("b", {}, "No verdict about the picture: "), "the checker would be asked about another picture than the certificate names, so somebody changed the page."]);
      } else lines.push(["Whether any latents satisfy the statements is not asked: ", questions.missing + "."]);
    } catch (error) {
      stop();
      lines.push([el("b", {}, "No verdict: "), "the checker cannot be run here (" + error.message + ")."]);
    }
    if (run !== own) return; // stopped meanwhile
    idle();
    answer.replaceChildren();
    for (const line of lines) say(...line);
  }
  const button = el("button", { type: "button", id: "prove", "aria-describedby": "again-what", on: { click: prove } }, "Prove again, here");
  section.append(
    button, el("p", { id: "again-what", class: "quiet" }, "A checker that is itself proved right, in Rocq, runs in your browser. Nothing is installed, and nothing leaves this page. But a page can be forged, and this button too: if you do not trust who sent it, use verale audit (see the foot of this page)."),
    answer, meaning(Boolean(questions.pictured)));
  return section;
}

// What an answer proves, and what it does not.
function meaning(ofPicture) {
  const digest = el("code", { id: "script-digest" }, "…");
  scriptDigest().then((own) => { digest.textContent = own; });
  return el("details", {}, el("summary", {}, "What this proves, and what it does not"),
    el("p", {}, "“Proved again” says: of the head in this page, and of the statements and leads that it shows, the claim is a theorem. It is about real numbers, not about floats."),
    el("p", {}, "It does not say:"),
    el("ul", {},
      el("li", {}, "that head, " + (ofPicture ? "network" : "latents") + " and statements are those of the files. They stand in this page as integers, which a reader of files wrote when the report was written."),
      ofPicture ? "" : el("li", {}, "that the latents are what the network’s first layers compute of the image."),
      el("li", {}, "that no statement can be dropped (minimality)."),
      el("li", {}, "that this page is honest. Its sentences, names and pictures are its author’s, and who edits it can change what it proves and what it says; ", el("code", {}, "verale audit --kernel proved"), " proves the files themselves, and ", el("code", {}, "verale report DIR --same-as PAGE"), " compares a page with them.")),
    el("p", {}, "The checker’s script has the SHA-256 ", digest, ". It should be that of ", el("code", {}, "verale/checker/proved/verale-proved.js"), " in verale " + data.version + ". Your browser, and the translation from Rocq to JavaScript, are trusted."));
}
