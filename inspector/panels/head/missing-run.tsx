import { shortRunId } from '../../fold/text.ts';
import type { Inspector } from '../../ui-state/inspector.ts';

/** The page of a run that is not in the list: still being read, or unknown. */
export function MissingRun({ inspector, runId }: { readonly inspector: Inspector; readonly runId: string }) {
  const { connection, unread, loaded } = inspector;
  const end = loaded.value.find((run) => run.runId === runId)?.end.value ?? null;
  const isUnknown = end !== null || (connection.value === 'open' && unread.value === 0);
  return (
    <main class="missing-run stack">
      {isUnknown ? (
        <>
          <h1>
            There is no run <span class="verbatim">{shortRunId(runId)}</span> here
          </h1>
          <p>
            It may have been deleted, or it is in the store of another directory. <a href="#/">Show all runs</a>, or
            start <code>postchain inspect</code> where the run was recorded.
          </p>
        </>
      ) : (
        <p role="status">Loading the run…</p>
      )}
    </main>
  );
}
