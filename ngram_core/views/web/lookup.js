// Lesson 04: one n-gram looked up in a chain of nodes and in a row of slots, side by side.
import { el, plural, seen } from "./dom.js";
import { inside } from "./inside.js";

export default {
  render: ({ model, el: root }) => inside(model, root, { name: "lookup", picture: pictures }),
};

function pictures() {
  const chain = el("div", { class: "half" });
  const slots = el("div", { class: "half" });
  return {
    node: el("div", { class: "halves" }, chain, slots),
    show: (_doc, here, step, at) => {
      chain.replaceChildren(...chainNodes(here, step.node, at));
      slots.replaceChildren(...slotNodes(here, step.slot, at));
    },
  };
}

const badge = (n) => el("sup", { class: "badge" }, String(n));
const same = () => el("small", { class: "same", title: "the same 64-bit hash" }, "same hash");

function head(title, more) {
  return el("p", { class: "pane-head" }, el("b", {}, title), el("small", {}, more));
}

/** What a place looks like: not yet visited, visited, in hand, or found. */
function state(visit, now, at, found) {
  if (visit < 0 || visit > now) return "";
  if (visit === now && found) return "found";
  return visit === now && visit === at ? "now" : "past";
}

function chainNodes(here, now, at) {
  const { buckets, home, nodes } = here.chain;
  const list = nodes.map(([name, isSame], i) => {
    const cls = state(i, now, at, name === here.key);
    return el("li", { class: cls }, seen("→", "arrow"), el("span", { class: "place" }, el("bdi", {}, name),
      isSame && name !== here.key ? same() : null, cls === "found" ? el("small", { class: "yes" }, "✓ found") : null, cls ? badge(i + 1) : null));
  });
  return [
    head("Chain of nodes", `${plural(buckets, "bucket")}, every node somewhere else in memory`),
    el("ol", { class: "chain" }, el("li", { class: "bucket" }, `bucket ${home}`), list.length ? list : el("li", {}, seen("→", "arrow"), el("span", { class: "place empty" }, "empty"))),
  ];
}

function slotNodes(here, now, at) {
  const { slots, home, fingerprint, places } = here.slots;
  const first = places.findIndex(([index]) => index === home);
  const rows = places.map(([index, name, distance, print, isSame], i) => {
    const visit = i - first;
    const cls = state(visit, now, at, name === here.key);
    return el("li", { class: cls }, el("span", { class: "number" }, String(index)),
      el("span", { class: `place${name ? "" : " empty"}` }, name ? el("bdi", {}, name) : "empty",
        isSame && name !== here.key ? same() : null, cls === "found" ? el("small", { class: "yes" }, "✓ found") : null,
        name ? el("small", { class: "print" }, `${distance} · ${print}`) : null, cls ? badge(visit + 1) : null));
  });
  return [
    head("Row of slots", `${plural(slots, "slot")}, 8 bytes each, eight to a cache line`),
    el("ol", { class: "row-of-slots" }, rows),
    el("p", { class: "cap" }, `In each slot: how far from its home its n-gram stands · fingerprint, 8 bits of the hash. Ours: home ${home}, fingerprint ${fingerprint}. `,
      "The n-gram itself, the key, is read only where both agree."),
  ];
}
