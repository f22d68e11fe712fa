import { useState } from 'preact/hooks';
import { attemptsAt } from '../../fold/attempt-at.ts';
import { lastUpTo } from '../../fold/sorted.ts';
import type { PanelProps } from '../panel-props.ts';
import { AnswerCard } from './answer-card.tsx';
import { AttemptCard } from './attempt-card.tsx';
import { AttemptChips } from './attempt-chips.tsx';
import './output.css';
import { PhaseHistory } from './phase-history.tsx';

/** What the run says: the answer where it has one, the reply that comes, and what the phases before it came to. */
export function OutputPanel({ inspector: { moveTo }, view }: PanelProps) {
  const [chosenFrom, choose] = useState<number | null>(null);
  const { log, fold, at } = view;
  const attempts = attemptsAt(fold.spans, at);
  const attempt = attempts.find(({ span }) => span.from === chosenFrom) ?? attempts.at(-1);
  const answerSeq = lastUpTo(fold.places.of('answer'), at);
  const answered = answerSeq === undefined ? undefined : log.entry(answerSeq);
  const answer = answered?.type === 'answer' ? answered.answer : null;
  if (attempt === undefined && answer === null) return <p class="muted">Nothing yet: no model was asked.</p>;
  return (
    <div class="output">
      {/* The answer takes the place of the reply, which is drawn anew below it. */}
      <div class="said" key={answer === null ? 'reply' : 'answer'}>
        {answer !== null && <AnswerCard answer={answer} />}
        {attempt !== undefined && (
          <>
            <AttemptChips attempts={attempts} chosen={attempt} choose={choose} />
            <AttemptCard key={attempt.span.from} view={view} attempt={attempt} moveTo={moveTo} />
          </>
        )}
      </div>
      <PhaseHistory view={view} moveTo={moveTo} />
    </div>
  );
}
