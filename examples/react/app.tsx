import { type FinalAnswer, PostChainError, type Turn } from 'postchain';
import type { ChainInput } from 'postchain/machines';
import { type FormEvent, useRef, useState } from 'react';
import { chain } from './chain.ts';
import { RunView } from './run-view.tsx';

/** A request box and the run of the latest request. Earlier requests and answers are passed as its history. */
export function App() {
  const box = useRef<HTMLTextAreaElement>(null);
  const [history, setHistory] = useState<readonly Turn[]>([]);
  const [input, setInput] = useState<ChainInput | null>(null);
  const [running, setRunning] = useState(false);
  const [problem, setProblem] = useState('');

  const ask = (event: FormEvent): void => {
    event.preventDefault();
    if (running) return;
    try {
      setInput(chain.createInput({ request: box.current?.value ?? '', history }));
      setRunning(true);
      setProblem('');
    } catch (error) {
      if (!(error instanceof PostChainError)) throw error;
      setProblem(error.message);
    }
  };

  const finish = (request: string, { answerText }: FinalAnswer): void => {
    setHistory([...history, { role: 'user', content: request }, { role: 'assistant', content: answerText }]);
    setRunning(false);
    if (document.activeElement === document.body) box.current?.focus();
  };

  return (
    <main>
      <h1>Ask the lighthouse</h1>
      <form onSubmit={ask}>
        <label htmlFor="request">Your request</label>
        <textarea
          id="request"
          ref={box}
          rows={3}
          aria-describedby="hint"
          placeholder="When is the lamp lit in winter?"
        />
        <p id="hint" className="hint">
          Answered in this page, from three notes about a lighthouse. Nothing is sent anywhere.
        </p>
        <p role="alert">{problem}</p>
        <button type="submit" disabled={running}>
          Ask
        </button>
      </form>
      {input && <RunView key={input.runId} input={input} onAnswer={(answer) => finish(input.request, answer)} />}
    </main>
  );
}
