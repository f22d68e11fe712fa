import { useActor } from '@xstate/react';
import { type ConsentChoice, type ConsentRequest, createActors, PHASES } from 'postchain';
import { type chainMachine, createChainMachine } from 'postchain/machines';
import { useLayoutEffect, useState } from 'react';
import type { InputFrom } from 'xstate';
import { options, writingOf } from './chain.ts';

/** Runs the chain machine as React state. The actor starts and stops with the component. */
export function useChain(input: InputFrom<typeof chainMachine>) {
  const [writing, setWriting] = useState('');
  const [question, setQuestion] = useState<ConsentRequest | null>(null);
  const [machine] = useState(() => {
    const actors = createActors(options, { partial: (update) => setWriting(writingOf(update)) });
    return createChainMachine(actors);
  });
  const [snapshot, send, actor] = useActor(machine, { input });

  // The actor starts in an effect. A layout effect runs earlier, so no emitted event is missed.
  useLayoutEffect(() => {
    const asking = actor.on('consent-asked', ({ request }) => setQuestion(request));
    return () => asking.unsubscribe();
  }, [actor]);

  const asks = snapshot.matches({ cycling: { understanding: 'awaitingConsent' } });
  return {
    phase: PHASES.find((phase) => snapshot.matches({ cycling: phase })) ?? null,
    cycle: snapshot.context.recursion.cycle,
    messages: snapshot.context.messages,
    answer: snapshot.output ?? null,
    writing,
    /** The consent request that waits for an answer. */
    question: asks ? question : null,
    consent: (choice: ConsentChoice, items: Record<string, ConsentChoice> = {}) =>
      send({ type: 'consent.given', choice, items }),
    cancel: () => send({ type: 'run.cancelled' }),
  };
}
