import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { PageRequest } from '../../../src/inspection/page-messages.ts';
import type { RunAction } from '../../../src/inspection/wire.ts';
import type { EntryOf } from '../../fold/entry-index.ts';
import { contextText } from '../../fold/system-trace.ts';
import { contextDifferences, movesText } from '../../fold/system-words.ts';
import { excerpt, revealHidden } from '../../fold/text.ts';
import { decidedWords } from '../../fold/trace-items.ts';
import { deliveryOf } from '../../fold/user-events.ts';
import { WithArrows } from '../../icon.tsx';
import { LinkButton } from '../../link-button.tsx';
import type { Inspector, PanelView } from '../../ui-state/inspector.ts';
import type { PanelProps } from '../panel.tsx';

interface Sent {
  /** Null for an action. */
  readonly event: unknown;
  /** The number of entries when it was sent: its delivery comes after them. */
  readonly from: number;
  /** Null while it is being sent; `problem` is null if the run accepted it. `seq`: the first entry that a replay does differently. */
  readonly answer: { readonly problem: string | null; readonly note: string; readonly seq?: number | undefined } | null;
}

const sent = signal<ReadonlyMap<string, Sent>>(new Map());

type OnProblem = (problem: string) => void;

/** Sends events and actions to a run or an actor, one at a time. All resolve to whether it accepted them; `done`: what to say then. `onProblem` receives what is wrong, to show it elsewhere. */
export function sender(inspector: Inspector, runId: string) {
  const isSending = (): boolean => sent.value.get(runId)?.answer === null;
  const note = (one: Sent): void => {
    sent.value = new Map(sent.value).set(runId, one);
  };

  async function send(
    request: PageRequest & { readonly type: 'send' | 'act' },
    done: string,
    onProblem?: OnProblem,
  ): Promise<boolean> {
    if (isSending()) return false;
    const event = request.type === 'send' ? request.event : null;
    const one = { event, from: inspector.openRun(runId).log.count, answer: null };
    note(one);
    const { result, problem } = await inspector.request(request);
    const shown = onProblem === undefined ? problem : null;
    const answer = { problem: shown, note: problem === null ? result?.note || done : '', seq: result?.seq };
    note({ ...one, answer });
    if (problem !== null) onProblem?.(problem);
    const started = result?.runId ?? runId;
    if (started !== runId) {
      const fork = request.type === 'act' && request.action.type === 'fork' ? request.action : null;
      sent.value = new Map(sent.value).set(started, { event: fork?.event, from: (fork?.at ?? 0) + 1, answer });
      location.hash = `#/run/${encodeURIComponent(started)}`;
    }
    return problem === null;
  }

  return {
    isBusy: isSending(),
    onSend: (event: unknown, done = '', onProblem?: OnProblem) => send({ type: 'send', runId, event }, done, onProblem),
    act: (action: RunAction, done = '', onProblem?: OnProblem) =>
      send({ type: 'act', runId, action, confirmed: null }, done, onProblem),
  };
}

/** The result of the last event or action: what was done, or why not. */
export function SendingResult({ inspector, view }: PanelProps) {
  const { run, log, fold } = view;
  const last = sent.value.get(run.runId);
  // A user who comes back to an actor has read the answer.
  const forget = (): void => {
    if (sent.peek().get(run.runId)?.answer) sent.value = new Map([...sent.peek()].filter(([id]) => id !== run.runId));
  };
  useEffect(() => (run.kind === 'system' ? forget : undefined), [run.runId]);
  const problem = last?.answer?.problem ?? null;
  const isDelivered = run.kind === 'run' && last?.answer?.problem === null;
  const delivery = isDelivered ? deliveryOf(log, fold, last.event, last.from) : null;
  const rejection = problem ?? delivery?.rejection ?? null;
  const differsAt = last?.answer?.seq;
  const seq = delivery?.seq ?? differsAt;
  return (
    <p class={`sent ${rejection !== null ? 'wrong' : differsAt === undefined ? '' : 'warn'} verbatim`} role="status">
      {last && <WithArrows text={run.kind === 'run' ? runWords(view, last) : actorWords(view, last)} />}
      {seq !== undefined && (
        <>
          {' '}
          <LinkButton onClick={() => inspector.moveTo(seq)}>Show</LinkButton>
        </>
      )}
    </p>
  );
}

function runWords({ log, fold }: PanelView, { event, from, answer }: Sent): string {
  if (answer === null) return 'Sending…';
  if (answer.problem !== null) return `Not sent: ${revealHidden(answer.problem)}`;
  const delivery = deliveryOf(log, fold, event, from);
  if (delivery === null) return 'Sent; the run has not read it yet.';
  if (delivery.rejection !== null) return `Rejected: ${revealHidden(delivery.rejection)}`;
  const decided = decidedWords(log, fold, delivery.seq);
  return `Accepted by the run.${decided === '' ? '' : ` ${revealHidden(decided)}.`}`;
}

const OWN_MS = 1_000;

/** Describes what an event did: the reply, whether the actor ignored it, which timer fired, what an edited answer changed. */
function actorWords({ fold, log, charts, count }: PanelView, { event, from, answer }: Sent): string {
  if (answer === null) return 'Sending…';
  // Something else has happened since; what its own calls report comes sooner.
  if (fold.timeLine.atMs(count - 1) - fold.timeLine.atMs(Math.min(from, count - 1)) > OWN_MS) return '';
  if (answer.problem !== null) return excerpt(answer.problem, 400);
  const { type: name, edited } = Object(event);
  const moved = fold.transitions.seqs
    .filter((seq) => seq >= from)
    .map((seq) => log.entry(seq) as EntryOf<'transition'>);
  if (event === null && moved[0]?.event.startsWith('xstate.after.'))
    return `Timer fired: ${movesText({ fold, charts }, moved)}.`;
  const received = fold.actors[0]?.events.findLast(({ type, seq }) => type === name && seq >= from);
  if (edited !== undefined && fold.states.at(count - 1) !== null) {
    const changes = contextText(contextDifferences(fold, '', from - 1, count - 1));
    return `${excerpt(answer.note, 600)} ${changes === '' ? 'Context unchanged.' : `Context: ${changes}.`}`;
  }
  const ignored = received?.ignored ?? null;
  const why = ignored?.length === 0 ? 'its states have no transition for it' : 'every guard was false';
  return excerpt(answer.note, 600) + (ignored === null ? '' : ` The actor ignored the event: ${why}.`);
}
