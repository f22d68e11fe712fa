import { useState } from 'preact/hooks';
import type { InspectedRun } from '../../../src/inspection/wire.ts';
import { listedCount } from '../../fold/run-list.ts';
import { excerpt } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';
import { Dialog } from '../head/dialog.tsx';

export interface ListDialogProps {
  readonly inspector: Inspector;
  readonly runs: readonly InspectedRun[];
  /** Receives what was done, as one sentence; empty if nothing. */
  readonly onClose: (result: string) => void;
}

const MAX_LISTED = 8;

export function DeleteDialog({ inspector, runs, onClose }: ListDialogProps) {
  const [isBusy, setBusy] = useState(false);

  async function remove(): Promise<void> {
    setBusy(true);
    const replies = await Promise.all(runs.map(({ runId }) => inspector.request({ type: 'remove', runId })));
    const problem = replies.find((reply) => reply.problem !== null)?.problem;
    const deleted = runs.filter((_, at) => replies[at]?.problem === null);
    onClose(`Deleted ${listedCount(deleted)}.${problem == null ? '' : ` ${excerpt(problem, 300)}`}`);
  }

  return (
    <Dialog title={`Delete ${listedCount(runs)}?`} onClose={() => onClose('')}>
      <div class="stack">
        <ul>
          {runs.slice(0, MAX_LISTED).map(({ runId, title }) => (
            <li key={runId}>{excerpt(title, 80) || excerpt(runId, 80)}</li>
          ))}
          {runs.length > MAX_LISTED && <li class="muted">and {runs.length - MAX_LISTED} more</li>}
        </ul>
        <p>Their journals are deleted. This cannot be undone.</p>
        <p>
          <button type="button" class="danger" disabled={isBusy} onClick={() => void remove()}>
            Delete
          </button>
        </p>
      </div>
    </Dialog>
  );
}
