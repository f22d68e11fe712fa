import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatTurn } from '../../../machines/contracts/model.ts';
import type { ActAnswer, InspectedRun, NeedsTrust, RunAction } from '../../../src/inspection/wire.ts';
import { contextAt } from '../../fold/context-at.ts';
import { formatNumber, PHASE_NAMES } from '../../fold/format.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import { jsonExcerpt, revealHidden } from '../../fold/text.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';
import { comparedRuns } from '../../ui-state/layout.ts';
import { Problem } from '../head/event-forms.tsx';
import type { PanelProps } from '../panel.tsx';

interface ActionResult {
  readonly isBusy: boolean;
  /** A result in one sentence; may be empty. */
  readonly note: string;
  readonly act: (action: RunAction) => Promise<void>;
  /** The question whether to trust the run, and what went wrong. */
  readonly messages: ComponentChildren;
}

/** Acts on a recorded run. A new run opens, compared with this one. */
export function useRunAction(inspector: Inspector, { runId }: InspectedRun): ActionResult {
  const [isBusy, setBusy] = useState(false);
  const [asked, setAsked] = useState<{ readonly action: RunAction; readonly result: ActAnswer } | null>(null);

  async function act(action: RunAction, confirmed: NeedsTrust | null = null): Promise<void> {
    if (isBusy) return;
    setBusy(true);
    const result = await inspector.act(runId, action, confirmed);
    setBusy(false);
    setAsked({ action, result });
    if (result.runId === null || result.runId === runId) return;
    comparedRuns.value = [runId, result.runId];
  }

  const { needsTrust = null, problem = null, note = '' } = asked?.result ?? {};
  const messages = (
    <>
      {needsTrust !== null && asked !== null && (
        <section class="card waiting" aria-label="Confirmation" role="alert">
          <h2>Do you trust this run?</h2>
          <p>
            It may not be what you expect, because {revealHidden(needsTrust.doubt)}. To continue it, PostChain would:
          </p>
          <ul class="actions">
            {needsTrust.actions.map((action) => (
              <li key={action} class="verbatim">
                {revealHidden(action)}
              </li>
            ))}
          </ul>
          <div class="row">
            <button type="button" onClick={() => setAsked(null)}>
              Cancel
            </button>
            <button type="button" class="danger" disabled={isBusy} onClick={() => void act(asked.action, needsTrust)}>
              Trust and continue
            </button>
          </div>
        </section>
      )}
      <Problem text={problem ?? ''} />
    </>
  );
  return { isBusy, note, act, messages };
}

interface Change {
  readonly path: string;
  readonly value: string;
}

const NO_CHANGE: Change = { path: '', value: '' };

interface ForkFormProps {
  readonly view: RunView;
  readonly isBusy: boolean;
  readonly onFork: (set: Readonly<Record<string, unknown>>) => void;
}

/** Starts a new run at the cursor with changes of settings, the direction, or fields of the next reply. */
export function ForkForm({ view, isBusy, onFork }: ForkFormProps) {
  const { at, count } = view;
  const [changes, setChanges] = useState<readonly Change[]>([NO_CHANGE]);
  const known = knownValues(view);
  const complete = changes.filter(({ path, value }) => path.trim() !== '' && value.trim() !== '');
  const isHalf = changes.some(({ path, value }) => (path.trim() === '') !== (value.trim() === ''));
  const obstacle =
    at < 1 || at >= count
      ? 'Move the cursor past entry 0.'
      : complete.length === 0 || isHalf
        ? 'Enter what to change and its new value. Without a change, the fork would repeat this run.'
        : null;
  const change = (index: number, part: Partial<Change>): void =>
    setChanges((before) => before.map((one, place) => (place === index ? { ...one, ...part } : one)));

  function submit(submitted: Event): void {
    submitted.preventDefault();
    onFork(Object.fromEntries(complete.map(({ path, value }) => [path.trim(), valueIn(value)])));
  }

  return (
    <form class="stack" aria-label="Fork" onSubmit={submit}>
      <h2>Fork at entry {formatNumber(at)}</h2>
      <p class="muted">
        Starts a new run that is the same up to the cursor and continues with your changes. Identical calls reuse their
        recorded results; others call the model.
      </p>
      <datalist id="fork-paths">
        {Object.keys(known).map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
      {changes.map(({ path, value }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a change has no other identity
        <div class="fork-change" key={index}>
          <label>
            <span class="visually-hidden">Change {index + 1}</span>
            <input
              list="fork-paths"
              placeholder="what to change"
              value={path}
              onInput={({ currentTarget }) => change(index, { path: currentTarget.value })}
            />
          </label>
          <label>
            <span class="visually-hidden">Value {index + 1}</span>
            <input
              placeholder={known[path] === undefined ? 'new value' : `new value, now ${jsonExcerpt(known[path], 60)}`}
              value={value}
              onInput={({ currentTarget }) => change(index, { value: currentTarget.value })}
            />
          </label>
        </div>
      ))}
      <div class="row">
        <button type="button" onClick={() => setChanges([...changes, NO_CHANGE])}>
          Add a change
        </button>
        <button type="submit" class="primary" disabled={isBusy || obstacle !== null}>
          Fork at entry {formatNumber(at)}
        </button>
        {obstacle !== null && <span class="muted">{obstacle}</span>}
      </div>
    </form>
  );
}

interface EditPromptProps extends PanelProps {
  readonly isBusy: boolean;
  readonly onFork: (seq: number, turns: readonly ChatTurn[]) => void;
}

/** Edits the prompt of the latest model call at the cursor, and runs that step again with it. */
export function EditPrompt({ view: { fold, selection }, isBusy, onFork }: EditPromptProps) {
  const [edited, setEdited] = useState<{ readonly seq: number; readonly turns: readonly ChatTurn[] } | null>(null);
  const seq = lastUpTo(fold.entries.of('prompt'), selection.to);
  if (seq === undefined) return null;

  const isOpen = edited !== null && edited.seq === seq;
  return (
    <section aria-label="Edit a prompt">
      <h2>Edit the prompt of entry {formatNumber(seq)}</h2>
      <p class="muted">Starts a new run that is the same up to this call, and asks the model again with your text.</p>
      {!isOpen && (
        <button type="button" onClick={() => setEdited({ seq, turns: fold.prompts.at(seq)?.turns ?? [] })}>
          Edit the prompt…
        </button>
      )}
      {isOpen && (
        <form
          class="stack"
          aria-label="Prompt"
          onSubmit={(submitted) => {
            submitted.preventDefault();
            onFork(seq, edited.turns);
          }}
        >
          {edited.turns.map((turn, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the turns keep their order
            <label class="field" key={index}>
              <span>{turn.role}</span>
              <textarea
                rows={8}
                spellcheck={false}
                value={turn.content}
                onInput={({ currentTarget: { value } }) =>
                  setEdited({ seq, turns: edited.turns.with(index, { ...turn, content: value }) })
                }
              />
            </label>
          ))}
          <div class="row">
            <button type="button" onClick={() => setEdited(null)}>
              Cancel
            </button>
            <button type="submit" class="primary" disabled={isBusy}>
              Run this step again
            </button>
          </div>
        </form>
      )}
    </section>
  );
}

/** What can be changed at the cursor, by path, with its current value: limits, thresholds, the direction, and fields of the next reply. */
function knownValues({ log, fold, at, count }: RunView): Readonly<Record<string, unknown>> {
  const { state } = contextAt(fold, at);
  const known: Record<string, unknown> = { phase: PHASE_NAMES.join(', ') };
  for (const [group, values] of Object.entries({
    limits: state?.limits,
    thresholds: state?.thresholds,
    reply: nextReply(),
  }))
    for (const [name, value] of Object.entries(values ?? {})) known[`${group}.${name}`] = value;
  return known;

  function nextReply(): object | undefined {
    for (const seq of fold.entries.of('call-event')) {
      if (seq < at || seq >= count) continue;
      const entry = log.entry(seq);
      if (entry.type === 'call-event' && entry.event.type === 'reply.ended') return Object(entry.event.reply.value);
    }
    return undefined;
  }
}

/** JSON or, failing that, text. */
function valueIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
