import type { CallError, CallEvent } from '../../../machines/contracts/call-event.ts';
import { unexpectedFailure } from '../../../machines/policies/failures.ts';

/** A call out of the charts under way: an actor of one of their ports. */
export interface Activity {
  readonly port: string;
  /** What is asked: JSON. */
  readonly input: unknown;
  /** Whether the chart still waits for it: it may have gone on without. */
  readonly isWaiting: () => boolean;
  /** Asks the world, and tells what comes of it. */
  readonly execute: (tell: Report) => void;
  /** Gives the chart what came of it. */
  readonly onEvent: Report;
}

type Report = (event: CallEvent) => void;

/** Who conducts the calls of a run: sees to it that each is made, or is not, and that the chart hears what came of it. */
export interface ActivityDispatcher {
  /** Gives what lets go of the call: its actor was stopped. */
  dispatch(call: Activity): () => void;
}

/** Every call is made at once, and the chart hears of it at once. */
export const inlineDispatcher: ActivityDispatcher = {
  dispatch: (call) => {
    call.execute(call.onEvent);
    return () => {};
  },
};

/** What a call is about, where its input says so: the attempt and the task of a model's reply, the capability of a run. */
export function subjectOf(input: unknown): { attemptId?: string; task?: string; capability?: string } {
  const { attemptId, task, capability } = Object(input) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof attemptId === 'string' && { attemptId }),
    ...(typeof task === 'string' && { task }),
    ...(typeof capability === 'string' && { capability }),
  };
}

/** As much of an error as a journal keeps and a chart goes by. Ports are often the user's code: anything may be thrown. */
export function activityError(thrown: unknown): CallError {
  const { message } = unexpectedFailure(thrown);
  try {
    const { name, code, status, retryAfterMs } = Object(thrown) as Record<string, unknown>;
    return {
      name: typeof name === 'string' ? name : 'Error',
      message,
      ...(typeof code === 'string' && { code }),
      ...(typeof status === 'number' && { status }),
      ...(typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && { retryAfterMs }),
    };
  } catch {
    return { name: 'Error', message };
  }
}

/** The error as a chart hears of it: the same whether it was thrown just now or stands in a journal. */
export function errorOf({ message, ...known }: CallError): Error {
  return Object.assign(new Error(message), known);
}
