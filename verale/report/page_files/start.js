// Shows one of two parts: the overview, or the certificate in the address.

let requests = 0;

async function show() {
  const request = ++requests;
  const named = /^#certificate-(\d+)$/.exec(location.hash || (count === 1 ? "#certificate-0" : "")); // one image alone is shown at once
  const row = named && Number(named[1]) < count ? Number(named[1]) : null;
  const overview = document.getElementById("overview"), detail = document.getElementById("detail");
  const before = detail.dataset.row;
  if (row === null) {
    overview.hidden = false;
    document.body.classList.remove("one");
    detail.hidden = true;
    delete detail.dataset.row;
    const link = before === undefined ? null : document.querySelector('a[href="#certificate-' + before + '"]');
    if (link) link.focus();
    return;
  }
  const title = await drawDetail(row);
  if (request !== requests) return; // a later request is already under way
  overview.hidden = true;
  document.body.classList.add("one");
  detail.hidden = false;
  detail.dataset.row = row;
  window.scrollTo(0, 0);
  title.focus({ preventScroll: true });
}

const form = document.getElementById("filters");
form.addEventListener("input", select);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => setTimeout(select));
for (const button of document.querySelectorAll(".only")) {
  button.addEventListener("click", () => choose({ class: button.dataset.class }));
}
window.addEventListener("hashchange", show);
window.addEventListener("beforeprint", () => document.querySelectorAll("details.printed").forEach((one) => one.setAttribute("open", "")));
begin().then(() => {
  beginList();
  drawConfusion();
  select();
  return show();
}).then(() => document.documentElement.setAttribute("data-ready", ""));
