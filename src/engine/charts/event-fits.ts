/** Whether an event of XState is the one that a transition of a chart names. One that is taken at once goes by whatever event led there. */
export function eventFits(named: string, raw: string, source: string): boolean {
  if (named === '' || named === raw) return true;
  if (named === 'done') return raw.startsWith('xstate.done.');
  if (named === 'error') return raw.startsWith('xstate.error.');
  if (named.startsWith('after ')) return raw === `xstate.after.${named.slice('after '.length)}.${source}`;
  return wildcardFits(named, raw);
}

/** `*`, or `mouse.*` for `mouse` and all that begins so. */
export function wildcardFits(named: string, raw: string): boolean {
  return named === '*' || (named.endsWith('.*') && `${raw}.`.startsWith(named.slice(0, -1)));
}
