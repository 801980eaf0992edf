// What is looked at stands in the address, so that it can be sent to a colleague.

/** Read job, incident and axis from the address. */
export function read() {
  const held = new URLSearchParams(location.hash.slice(1));
  return { job: held.get("job") ?? "", incident: held.get("incident") ?? "", axis: held.get("axis") ?? "" };
}

/** Write them; empty ones are left out. */
export function write(place) {
  const wanted = Object.entries(place).filter(([, value]) => value);
  const hash = `#${new URLSearchParams(wanted)}`;
  if (hash !== location.hash) history.replaceState(null, "", hash);
}
