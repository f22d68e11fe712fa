import { cancel, fromPromise, raise, setup } from 'xstate';
import { both } from './both.mjs';

/** Fault: the reminder is not canceled when the task is done. */
export const [task, taskFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'task',
    initial: 'open',
    states: {
      open: {
        entry: raise({ type: 'reminder' }, { delay: 60_000, id: 'reminder' }),
        ...(isFaulty ? {} : { exit: cancel('reminder') }),
        on: { reminder: 'overdue', finish: 'finished' },
      },
      overdue: { on: { finish: 'finished' } },
      finished: { on: { reopen: 'open' } },
    },
  }),
);

/** Fault: the warning before the end of a session is set on sign-in and survives the sign-out. */
export const [session, sessionFaulty] = both((isFaulty) =>
  setup({ actors: { refresh: fromPromise(async () => {}) } }).createMachine({
    id: 'session',
    initial: 'signedOut',
    states: {
      signedOut: {
        on: {
          signIn: {
            target: 'signedIn',
            actions: raise({ type: 'session.expiring' }, { delay: 1_500_000, id: 'expiry' }),
          },
        },
      },
      signedIn: {
        on: {
          'session.expiring': 'refreshing',
          signOut: { target: 'signedOut', ...(isFaulty ? {} : { actions: cancel('expiry') }) },
        },
      },
      refreshing: {
        on: { signOut: 'signedOut' },
        invoke: {
          src: 'refresh',
          onDone: {
            target: 'signedIn',
            actions: raise({ type: 'session.expiring' }, { delay: 1_500_000, id: 'expiry' }),
          },
          onError: 'signedOut',
        },
      },
    },
  }),
);

/** Fault: the timeout of the first question also ends the second one, which has the same event. */
export const [interview, interviewFaulty] = both((isFaulty) =>
  setup({}).createMachine({
    id: 'interview',
    initial: 'first',
    states: {
      first: {
        entry: raise({ type: 'time.up' }, { delay: 30_000, id: 'first' }),
        ...(isFaulty ? {} : { exit: cancel('first') }),
        on: { answer: 'second', 'time.up': 'failed' },
      },
      second: {
        entry: raise({ type: 'time.up' }, { delay: 30_000, id: 'second' }),
        exit: cancel('second'),
        on: { answer: 'passed', 'time.up': 'failed' },
      },
      passed: { type: 'final' },
      failed: { type: 'final' },
    },
  }),
);
