import { type Question, type RunServer, type UseRunResult, useRun } from 'postchain/react';
import { type FormEvent, useState } from 'react';
import { AnswerView } from './answer-view.tsx';
import { ConsentDialog } from './consent-dialog.tsx';
import { PhaseList } from './phase-list.tsx';

/** Starts and shows runs of a server. The run's id is in the address, so the page can be closed and opened again while it is in progress. */
export function ServerApp() {
  const [server, setServer] = useState<RunServer>(() => JSON.parse(sessionStorage.getItem('server') ?? '{"url":""}'));
  const [runId, setRunId] = useState(() => new URLSearchParams(location.search).get('run'));
  const [problem, setProblem] = useState('');
  const run = useRun(server, runId);
  const isBusy = run.connection === 'connecting' || run.connection === 'open';

  const showError = ({ message }: Error): void => setProblem(message);

  const connect = (form: FormData): void => {
    const connected = { url: String(form.get('url') ?? ''), token: String(form.get('token') ?? '') };
    // Not `localStorage`: the token is gone when the tab is closed.
    sessionStorage.setItem('server', JSON.stringify(connected));
    setServer(connected);
  };

  const ask = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    event.preventDefault();
    const request = String(new FormData(event.currentTarget).get('request') ?? '');
    setProblem('');
    try {
      const started = await run.start({ request });
      history.replaceState(null, '', `?run=${encodeURIComponent(started)}`);
      setRunId(started);
    } catch (error) {
      showError(error as Error);
    }
  };

  return (
    <main>
      <h1>Ask a server</h1>
      <form action={connect}>
        <label htmlFor="url">Address of the server</label>
        <input id="url" name="url" defaultValue={server.url} placeholder="http://127.0.0.1:8787" />
        <label htmlFor="token">Token</label>
        <input id="token" name="token" type="password" autoComplete="off" />
        <button type="submit">Connect</button>
      </form>
      <form onSubmit={ask}>
        <label htmlFor="request">Your request</label>
        <textarea id="request" name="request" rows={3} />
        <p role="alert">{problem || run.error?.message}</p>
        <button type="submit" disabled={isBusy}>
          Ask
        </button>
      </form>
      {runId !== null && <ServerRun run={run} onProblem={showError} />}
    </main>
  );
}

function ServerRun({ run, onProblem }: { readonly run: UseRunResult; readonly onProblem: (error: Error) => void }) {
  const { view, connection, answer, send } = run;
  const phase = view.phases.at(-1);
  const isEnded = view.status === 'ended';
  const [question] = view.questions;
  return (
    <>
      <section aria-labelledby="run-title" aria-busy={!isEnded}>
        <header>
          <h2 id="run-title">{view.request}</h2>
          {connection === 'open' && (
            <button type="button" onClick={() => send({ type: 'run.cancelled' }).catch(onProblem)}>
              Cancel
            </button>
          )}
        </header>
        <p role="status">{connection === 'connecting' ? 'Connecting.' : isEnded ? 'Answered.' : view.progress}</p>
        <PhaseList current={isEnded ? null : (phase?.phase ?? null)} isOver={isEnded} />
        {!isEnded && <p className="writing">{view.text}</p>}
      </section>
      {question?.kind === 'consent' && (
        <ConsentDialog
          key={question.questionId}
          request={question.request}
          onChoice={(choice, items = {}) => answer(question, { choice, items }).catch(onProblem)}
        />
      )}
      {question?.kind === 'approval' && (
        <Approval question={question} onDecision={(decision) => answer(question, { decision }).catch(onProblem)} />
      )}
      {view.answer && <AnswerView answer={view.answer} />}
    </>
  );
}

interface ApprovalProps {
  readonly question: Extract<Question, { kind: 'approval' }>;
  readonly onDecision: (decision: 'approve' | 'deny') => void;
}

function Approval({ question, onDecision }: ApprovalProps) {
  return (
    <section aria-labelledby="approval-title">
      <h2 id="approval-title">May {question.capability} run?</h2>
      <pre>{JSON.stringify(question.arguments, null, 2)}</pre>
      <button type="button" onClick={() => onDecision('approve')}>
        Approve
      </button>{' '}
      <button type="button" onClick={() => onDecision('deny')}>
        Deny
      </button>
    </section>
  );
}
