/**
 * Returns a message, with defaults for the fields that are not given.
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
