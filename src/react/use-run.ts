import { useEffect, useMemo, useRef, useState } from 'react';
import type { ClientEvent } from '../../machines/contracts/events.ts';
import { emptyView, type RunView } from '../server/run-view.ts';
import type { Question } from '../server/updates.ts';
import type { RunServer } from './connection.ts';
import { answerEvent, followRun, type NewRun, type ReplyTo, type RunState, sendToRun, startRun } from './run-client.ts';

/** A run as React state, and functions to control it. The functions reject with an `HttpError`, and are stable as long as `runId` is. */
export interface UseRunResult extends RunState {
  /** Starts a run and resolves with its id. A repeated call with the same idempotency key returns the same run. */
  start(run: NewRun, idempotencyKey?: string): Promise<string>;
  /** Answers one of `view.questions`. */
  answer<Asked extends Question>(question: Asked, reply: ReplyTo<Asked>): Promise<void>;
  /** Sends any other event, such as `{ type: 'run.cancelled' }`. */
  send(event: ClientEvent): Promise<void>;
}

/**
 * Follows a run of a server while the component is mounted. If `runId` is null, use `start` to start a run. `initialView` is shown until the
 * server has responded, for example a view from server-side rendering.
 *
 * @example
 * const [runId, setRunId] = useState<string | null>(null);
 * const { view, start, answer } = useRun({ url: '' }, runId);
 */
export function useRun(server: RunServer, runId: string | null, initialView: RunView = emptyView): UseRunResult {
  const latest = useRef(server);
  useEffect(() => {
    latest.current = server;
  });
  const { url, token } = server;
  const key = `${url} ${runId}`;
  const [followed, setFollowed] = useState<{ readonly key: string; readonly run: RunState } | null>(null);
  const isOver = initialView.runId === runId && initialView.answer !== null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new token may be accepted after the last one was rejected
  useEffect(() => {
    if (runId === null || isOver) return;
    const leaving = new AbortController();
    const follow = async (): Promise<void> => {
      for await (const run of followRun(() => latest.current, runId, leaving.signal))
        if (!leaving.signal.aborted) setFollowed({ key, run });
    };
    void follow();
    return () => leaving.abort();
  }, [key, runId, isOver, token]);

  const actions = useMemo(() => {
    const send = async (event: ClientEvent): Promise<void> => {
      if (runId === null) throw new Error('Cannot send an event: runId is null. Start a run first.');
      await sendToRun(latest.current, runId, event);
    };
    return {
      start: (run: NewRun, idempotencyKey?: string) => startRun(latest.current, run, idempotencyKey),
      send,
      answer: <Asked extends Question>(question: Asked, reply: ReplyTo<Asked>) => send(answerEvent(question, reply)),
    };
  }, [runId]);

  if (followed?.key === key) return { ...followed.run, ...actions };
  const connection = runId === null ? 'idle' : isOver ? 'closed' : 'connecting';
  const view = initialView.runId === runId ? initialView : emptyView;
  return { view, connection, error: null, ...actions };
}
