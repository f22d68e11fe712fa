import { useEffect, useMemo, useRef, useState } from 'react';
import type { ClientEvent } from '../../machines/contracts/events.ts';
import { emptyView, type RunView } from '../server/run-view.ts';
import type { Question } from '../server/updates.ts';
import { type FollowedRun, followRun } from './follow-run.ts';
import { eventOf, type NewRun, type ReplyTo, type RunServer, sendToRun, startRun } from './run-requests.ts';

/** A run as React state, and what its user can do. All functions reject with an `HttpError`, and stay the same for one run. */
export interface UsedRun extends FollowedRun {
  /** Starts a run and resolves with its id. A repeated call with the same idempotency key gets the same run. */
  start(run: NewRun, idempotencyKey?: string): Promise<string>;
  /** Answers one of `view.questions`. */
  answer<Asked extends Question>(question: Asked, reply: ReplyTo<Asked>): Promise<void>;
  /** Sends any other event, such as `{ type: 'run.cancelled' }`. */
  send(event: ClientEvent): Promise<void>;
}

/**
 * Follows a run of a server while the component is mounted. Without a run (null), `start` starts one. `initialView` is shown until the
 * server has answered, for example one that a page was rendered with.
 *
 * @example
 * const [runId, setRunId] = useState<string | null>(null);
 * const { view, start, answer } = useRun({ url: '' }, runId);
 */
export function useRun(server: RunServer, runId: string | null, initialView: RunView = emptyView): UsedRun {
  const latest = useRef(server);
  useEffect(() => {
    latest.current = server;
  });
  const { url, token } = server;
  const key = `${url} ${runId}`;
  const [followed, setFollowed] = useState<{ readonly key: string; readonly run: FollowedRun } | null>(null);
  const isOver = initialView.runId === runId && initialView.answer !== null;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another token may be let in where the last one was not
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
      if (runId === null) throw new Error('There is no run to send an event to.');
      await sendToRun(latest.current, runId, event);
    };
    return {
      start: (run: NewRun, idempotencyKey?: string) => startRun(latest.current, run, idempotencyKey),
      send,
      answer: <Asked extends Question>(question: Asked, reply: ReplyTo<Asked>) => send(eventOf(question, reply)),
    };
  }, [runId]);

  if (followed?.key === key) return { ...followed.run, ...actions };
  const connection = runId === null ? 'idle' : isOver ? 'closed' : 'connecting';
  const view = initialView.runId === runId ? initialView : emptyView;
  return { view, connection, error: null, ...actions };
}
