/** What came of a guard, as it is told everywhere. */
export const VERDICTS = {
  taken: { icon: 'check', word: 'taken' },
  false: { icon: 'cross', word: 'false' },
  'not-evaluated': { icon: 'dot', word: 'not evaluated' },
} as const;
