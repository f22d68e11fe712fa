import type { FinalAnswer } from 'postchain';
import type { ChainInput } from 'postchain/machines';
import { useEffect, useEffectEvent } from 'react';
import { AnswerView } from './answer-view.tsx';
import { ConsentDialog } from './consent-dialog.tsx';
import { MessageList } from './message-list.tsx';
import { PhaseList } from './phase-list.tsx';
import { useChain } from './use-chain.ts';

interface Props {
  readonly input: ChainInput;
  readonly onAnswer: (answer: FinalAnswer) => void;
}

/** A live run. Text from models and documents is rendered as text, never as HTML. */
export function RunView({ input, onAnswer }: Props) {
  const { phase, cycle, messages, answer, writing, question, consent, cancel } = useChain(input);
  const reportAnswer = useEffectEvent(onAnswer);
  useEffect(() => {
    if (answer !== null) reportAnswer(answer);
  }, [answer]);

  return (
    <>
      <section aria-labelledby="run-title" aria-busy={answer === null}>
        <header>
          <h2 id="run-title">Cycle {cycle}</h2>
          {answer === null && (
            <button type="button" onClick={cancel}>
              Cancel
            </button>
          )}
        </header>
        <p role="status">
          {answer ? 'Answered.' : question ? 'Waiting for your answer.' : `Phase: ${phase ?? 'final answer'}.`}
        </p>
        <PhaseList current={phase} isOver={phase === null} />
        {answer === null && <p className="writing">{writing}</p>}
      </section>
      {answer && <AnswerView answer={answer} />}
      <MessageList messages={messages} />
      {question && (
        <ConsentDialog
          key={question.questionId}
          request={question.request}
          onChoice={(choice, items) => consent(question.questionId, choice, items)}
        />
      )}
    </>
  );
}
