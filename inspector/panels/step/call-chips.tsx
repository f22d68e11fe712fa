import { formatDuration } from '../../fold/format.ts';
import { selectionOf } from '../../fold/selection.ts';
import type { StepCalls } from '../../fold/step.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector, RunView } from '../../ui-state/inspector.ts';

interface CallChipsProps {
  readonly inspector: Inspector;
  readonly view: RunView;
  readonly calls: StepCalls;
}

const WORDS = { valid: '', running: 'running', discarded: 'failed', aborted: 'stopped' } as const;

export function CallChips({ inspector, view, calls: { all, selected } }: CallChipsProps) {
  if (all.length === 1)
    return (
      <p class="call-chips row muted">
        Model call {selected.number}: {excerpt(selected.span.task, 40)}
      </p>
    );
  return (
    <fieldset class="call-chips row">
      <legend class="visually-hidden">Model calls of this phase</legend>
      {all.map(({ number, span, status, backOffMs }) => (
        <span key={span.from}>
          <button
            type="button"
            class={status}
            aria-pressed={number === selected.number}
            onClick={() => inspector.select(selectionOf('attempt', span, view.count))}
          >
            Call {number}: {excerpt(span.task, 40)}
            {span.attempt > 1 && `, attempt ${span.attempt}`}
            {WORDS[status] !== '' && `, ${WORDS[status]}`}
          </button>
          {backOffMs !== null && backOffMs > 0 && <span class="muted"> waited {formatDuration(backOffMs)}</span>}
        </span>
      ))}
    </fieldset>
  );
}
