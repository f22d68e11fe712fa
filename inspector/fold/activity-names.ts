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
  (Object.hasOwn(SHARED, actor) ? SHARED[actor] : null) ?? capitalized(words(actor));
export const words = (name: string): string => name.replace(/([A-Z])/gu, ' $1').toLowerCase();
export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
