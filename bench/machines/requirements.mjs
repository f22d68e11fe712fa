/**
 * For each machine, the one property that a person who knows its purpose would state: `check` gets nothing else. They were written with the
 * machines, before the first measurement.
 *
 * @type {Readonly<Record<string, Readonly<Record<string, unknown>>>>}
 */
export const requirements = {
  checkout: { property: 'soundness' },
  login: { property: 'soundness' },
  review: { property: 'soundness' },
  shipment: { property: 'precedes', first: { state: 'returning' }, before: { state: 'returned' } },
  editor: { property: 'precedes', first: { event: 'save: error' }, before: { state: 'conflict' } },
  signup: { property: 'precedes', first: { state: 'plan' }, before: { event: 'chosen' } },
  search: { property: 'soundness' },
  profilePage: { property: 'soundness' },
  upload: { property: 'soundness' },
  quiz: { property: 'precedes', first: { event: 'answer' }, before: { state: 'scored' } },
  subscription: { property: 'precedes', first: { event: 'paid' }, before: { state: 'premium' } },
  backup: { property: 'precedes', first: { event: 'copy: error' }, before: { state: 'reporting' } },
  player: {
    property: 'handlesEvents',
    mayIgnore: { play: ['buffering', 'playing'], pause: ['paused'], stalled: ['paused', 'buffering'] },
  },
  mailbox: { property: 'handlesEvents' },
  order: { property: 'handlesEvents', mayIgnore: { confirm: ['checking', 'confirmed'], ship: ['open', 'checking'] } },
  refund: { property: 'precedes', first: { event: 'approved' }, before: { actor: 'pay' } },
  newsletter: { property: 'precedes', first: { event: 'approve' }, before: { actor: 'send' }, times: 'each' },
  deployment: { property: 'precedes', first: { event: 'approve' }, before: { actor: 'deploy' } },
  fetcher: { property: 'endsWithin', events: 10 },
  writer: { property: 'endsWithin', events: 20 },
  poll: { property: 'endsWithin', events: 20 },
  task: { property: 'precedes', first: { state: 'open' }, before: { state: 'overdue' } },
  session: { property: 'precedes', first: { event: 'signIn' }, before: { actor: 'refresh' } },
  interview: { property: 'endsWithin', events: 3 },
  onboarding: { property: 'precedes', first: { event: 'phone.confirmed' }, before: { state: 'welcome' } },
  report: { property: 'eventually', states: ['shown'] },
  handshake: { property: 'precedes', first: { event: 'sign' }, before: { state: 'sold' } },
  wizard: { property: 'precedes', first: { state: 'payment' }, before: { state: 'summary' } },
  invoice: { property: 'precedes', first: { event: 'collect: done' }, before: { state: 'paid' } },
  trafficLight: { property: 'precedes', first: { state: 'yellow' }, before: { state: 'red' } },
};
