/** A client of the server: a run as React state. Requires the package `react`. */
export { followRun, type RunState } from '../react/follow-run.ts';
export { answerEvent, type NewRun, type ReplyTo, type RunServer, sendToRun, startRun } from '../react/run-requests.ts';
export { type UseRunResult, useRun } from '../react/use-run.ts';
export { HttpError } from '../server/http-error.ts';
export type { RunView } from '../server/run-view.ts';
export type { Question } from '../server/updates.ts';
