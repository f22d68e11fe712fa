import { requireKnownOptions } from '../internal/require-known.ts';

/** The options of each function. */
const OPTIONS = {
  createDurableMachine:
    'journals versions migrate codecs timeWithoutProcess parkAfterMs describeCall describeEnd describeWait describeAttributes clock logger queue',
  queue: 'concurrency rate key perKey',
  'perKey of queue': 'concurrency rate',
  rate: 'starts everyMs',
  enqueue: 'input priority delayMs product parent',
  migrate: 'state context events',
  start: 'input seed startedAtMs product parent notes reuse isPaused onEntry mayPark',
  open: 'input mustExist force isPaused onEntry mayPark',
  advance: 'signal onOpen isPaused onEntry mayPark',
  fork: 'at isBefore event id input product reuse isPaused onEntry mayPark',
  skip: 'output',
  repair: 'ids dryRun output status waitingFor dueBefore where limit',
  send: 'id',
  'send of a durable machine': 'id reply',
  park: 'wait',
  'list of a durable machine': 'allMachines status waitingFor dueBefore where after limit',
  createWorker: 'hosts concurrency pollMs maxCrashes backoffMs clock onEvent',
  list: 'machine status waitingFor dueBefore where after limit',
  prune: 'olderThanMs status',
  read: 'fromKeyframe',
  'open of a store': 'force wait fromKeyframe',
  follow: 'from signal',
} as const;

/** Throws `invalid_option` for an unknown option, or anything but an object. */
export function requireKnown(name: keyof typeof OPTIONS, options: unknown): void {
  requireKnownOptions(name, options, OPTIONS[name]);
}
