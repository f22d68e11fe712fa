import type { Run } from '../engine/runtime/run.ts';

export interface Signals {
  /** Does what Ctrl-C does: the first asks for the answer so far, the second ends the process. */
  readonly interrupt: () => void;
  /** Somebody ended the process by SIGTERM: it waits for nothing more than the answer. */
  readonly isTerminated: () => boolean;
  readonly stopListening: () => void;
}

/** Resolves at Ctrl-C, or when somebody ends the process otherwise. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    const stop = (): void => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
}

export function listenToSignals(run: Pick<Run, 'cancel' | 'send'>): Signals {
  let interrupted = false;
  const interrupt = (): void => {
    if (interrupted) process.exit(130);
    interrupted = true;
    run.cancel('Ctrl-C');
  };
  let terminated = false;
  const terminate = (): void => {
    terminated = true;
    run.send({ type: 'run.interrupted', reason: 'SIGTERM' });
  };
  process.on('SIGINT', interrupt);
  process.once('SIGTERM', terminate);
  return {
    interrupt,
    isTerminated: () => terminated,
    stopListening() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
    },
  };
}
