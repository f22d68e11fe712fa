import { type Message, planRetention, relevanceOf, thresholdsSchema } from 'postchain/machines';

const message = (id: string, role: Message['role'], content: string): Message => ({
  id,
  role,
  phase: null,
  content,
  createdAtMs: 0,
  cycle: 1,
  tags: [],
  importance: 0.5,
  links: [],
  references: [],
  source: null,
});
const messages = [
  message('m1', 'search', 'The pump in the cellar was replaced in March by Okonkwo.'),
  message('m2', 'search', 'The garden wall is two meters high and needs paint.'),
  message('m3', 'search', 'Okonkwo comes on Tuesdays and brings his own tools.'),
];
const request = 'Who replaced the pump?';
const shared = { request, cycle: 1, nowMs: 0, similarity: null };
const thresholds = thresholdsSchema.parse({});

for (const { match, names, score } of relevanceOf(messages, { ...shared, ...thresholds }))
  console.log(score.toFixed(2), { match, names });

const { operations } = planRetention({
  ...shared,
  messages,
  tokens: messages.map(({ content }) => content.length / 4),
  tokensAllowed: 30,
  maxMessages: 200,
  mayAsk: true,
  step: 1,
  assessments: [],
  thresholds,
});
for (const { operation, target, reason } of operations) console.log(operation, target, reason);
