/** A client of the server: a run as React state. Requires the package `react`. */
export {
  answerEvent,
  followRun,
  type NewRun,
  type ReplyTo,
  type RunServer,
  type RunState,
  sendToRun,
  startRun,
} from '../react/run-client.ts';
export { type UseRunResult, useRun } from '../react/use-run.ts';
export { HttpError } from '../server/http-error.ts';
export type { RunView } from '../server/run-view.ts';
export type { Question } from '../server/updates.ts';
