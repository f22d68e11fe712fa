import { capitalize, humanize } from './format.ts';

/** Activities that share a lane or a lifeline. Any other has its own: `weighWords` becomes `Weigh words`. */
const SHARED: Readonly<Record<string, string>> = {
  retrievePassages: 'Search',
  validateArguments: 'Tools',
  decideContinuation: 'Tools',
  recallSession: 'Session',
  appendTurn: 'Session',
  measureContext: 'Embeddings',
  compareAnswers: 'Embeddings',
  gradeAnswer: 'Grading',
  validateReply: 'Validation',
};

export const laneName = (actor: string): string =>
  (Object.hasOwn(SHARED, actor) ? SHARED[actor] : null) ?? capitalize(humanize(actor));
