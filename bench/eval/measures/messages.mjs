/**
 * A message of a context, with what a measurement does not say filled in.
 *
 * @param {{ id: string, content: string } & Partial<import('postchain/machines').Message>} given
 * @returns {import('postchain/machines').Message}
 */
export function message(given) {
  return {
    role: 'search',
    phase: null,
    createdAtMs: 0,
    cycle: 1,
    tags: [],
    importance: 0.5,
    links: [],
    references: [],
    source: null,
    ...given,
  };
}
