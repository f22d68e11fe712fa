type Act = () => void;

const waiting = new WeakMap<AbortSignal, Set<Act>>();

/**
 * Acts when the signal aborts; gives what takes that back. However many wait for one signal, it has one listener of ours, and none
 * when nobody waits: a signal that lives as long as a server stops any number of runs, and Node sees no leak in it.
 */
export function onAbort(signal: AbortSignal, act: Act): () => void {
  const acts = waiting.get(signal) ?? listen(signal);
  acts.add(act);
  return () => {
    acts.delete(act);
    if (acts.size > 0 || waiting.get(signal) !== acts) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', fire);
  };
}

function listen(signal: AbortSignal): Set<Act> {
  const acts = new Set<Act>();
  waiting.set(signal, acts);
  signal.addEventListener('abort', fire, { once: true });
  return acts;
}

function fire(this: AbortSignal): void {
  const acts = waiting.get(this) ?? new Set<Act>();
  waiting.delete(this);
  for (const act of acts) act();
}
