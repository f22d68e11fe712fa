import { useActor } from '@xstate/react';
import { type ConsentChoice, type ConsentRequest, PHASES, type Phase } from 'postchain';
import type { ChainInput } from 'postchain/machines';
import { useLayoutEffect, useRef, useState } from 'react';
import { chain, writingOf } from './chain.ts';

interface Question {
  readonly questionId: string;
  readonly request: ConsentRequest;
}

/** Runs the chain machine as React state. The actor starts and stops with the component. */
export function useChain(input: ChainInput) {
  const [writing, setWriting] = useState('');
  const [question, setQuestion] = useState<Question | null>(null);
  const current = useRef<Phase | null>(null);
  const [machine] = useState(() =>
    chain.createMachine({
      partial: (update) => {
        // A call may start before its phase.
        const isEarly = update.task !== current.current && PHASES.some((phase) => phase === update.task);
        if (!isEarly) setWriting(writingOf(update));
      },
    }),
  );
  const [snapshot, send, actor] = useActor(machine, { input });
  const phase = PHASES.find((one) => snapshot.matches({ cycling: one })) ?? null;

  useLayoutEffect(() => {
    current.current = phase;
  }, [phase]);

  // The actor starts in an effect. A layout effect runs earlier, so no emitted event is missed.
  useLayoutEffect(() => {
    const asking = actor.on('consent-asked', setQuestion);
    return () => asking.unsubscribe();
  }, [actor]);

  const asks = snapshot.matches({ cycling: { understanding: 'awaitingConsent' } });
  return {
    phase,
    cycle: snapshot.context.recursion.cycle,
    messages: snapshot.context.messages,
    answer: snapshot.output ?? null,
    writing,
    /** The question that waits for an answer. */
    question: asks ? question : null,
    /** Answers a question. It must be the one that the user saw: an answer to any other changes nothing. */
    consent: (questionId: string, choice: ConsentChoice, items: Record<string, ConsentChoice> = {}) =>
      send({ type: 'consent.given', questionId, choice, items }),
    cancel: () => send({ type: 'run.cancelled' }),
  };
}
