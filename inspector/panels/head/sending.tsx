import { signal } from '@preact/signals';
import { revealHidden } from '../../fold/text.ts';
import { decidedWords } from '../../fold/trace-items.ts';
import { deliveryOf } from '../../fold/user-events.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { EntryLink } from '../entry-link.tsx';
import type { PanelProps } from '../panel.tsx';

interface Sent {
  readonly runId: string;
  readonly event: unknown;
  /** The number of entries when it was sent: its delivery comes after them. */
  readonly from: number;
  /** Null while it is being sent; `problem` is null if the run accepted it. */
  readonly answer: { readonly problem: string | null } | null;
}

/** The last event that was sent to each run, by run id. */
const sent = signal<ReadonlyMap<string, Sent>>(new Map());

const isSending = (runId: string): boolean => sent.value.get(runId)?.answer === null;

/** Sends events to a run, one at a time. `send` resolves to whether the run accepted the event. */
export function sender(inspector: Inspector, runId: string) {
  return {
    isBusy: isSending(runId),
    async onSend(event: unknown): Promise<boolean> {
      if (isSending(runId)) return false;
      const one: Sent = { runId, event, from: inspector.openRun(runId).log.count, answer: null };
      sent.value = new Map(sent.value).set(runId, one);
      const { problem } = await inspector.request({ type: 'send', runId, event });
      sent.value = new Map(sent.value).set(runId, { ...one, answer: { problem } });
      return problem === null;
    },
  };
}

const acceptedWords = (decided: string): string =>
  decided === '' ? 'Accepted by the run.' : `Accepted by the run. ${revealHidden(decided)}.`;

/** The result of the last event that was sent: accepted, or rejected with the reason. */
export function SendingResult({ inspector, view: { run, log, fold } }: PanelProps) {
  const last = sent.value.get(run.runId);
  const problem = last?.answer?.problem ?? null;
  const delivery = last?.answer?.problem === null ? deliveryOf(log, fold, last.event, last.from) : null;
  const rejection = problem ?? delivery?.rejection ?? null;
  const words =
    last === undefined
      ? ''
      : last.answer === null
        ? 'Sending…'
        : problem !== null
          ? `Not sent: ${revealHidden(problem)}`
          : delivery === null
            ? 'Sent; the run has not read it yet.'
            : rejection !== null
              ? `Rejected: ${revealHidden(rejection)}`
              : acceptedWords(decidedWords(log, fold, delivery.seq));
  return (
    <p class={`sent ${rejection === null ? '' : 'wrong'} verbatim`} role="status">
      {words}
      {delivery !== null && (
        <>
          {' '}
          <EntryLink seq={delivery.seq} moveTo={inspector.moveTo}>
            Show
          </EntryLink>
        </>
      )}
    </p>
  );
}
