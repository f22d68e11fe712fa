import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { createDurableMachine, fileJournals } from 'postchain/durable';
import { journalStoreChecks } from 'postchain/testing';
import { createMachine } from 'xstate';

const key = randomBytes(32);
const codec = {
  encode(line: string) {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', key, iv);
    return Buffer.concat([iv, cipher.update(line), cipher.final(), cipher.getAuthTag()]).toString('base64');
  },
  decode(line: string) {
    const bytes = Buffer.from(line, 'base64');
    const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12)).setAuthTag(bytes.subarray(-16));
    return Buffer.concat([cipher.update(bytes.subarray(12, -16)), cipher.final()]).toString();
  },
};
const open = () => fileJournals(mkdtempSync('/tmp/postchain-'), { codec });

const machine = createMachine({
  id: 'order',
  initial: 'open',
  states: { open: { on: { PAY: 'paid' } }, paid: { on: { SHIP: 'shipped' } }, shipped: { type: 'final' } },
});
const order = await createDurableMachine(machine, { journals: open() }).open('o-17');
await order.send({ type: 'PAY' });
await order.send({ type: 'SHIP' });

// `skipped` says which optional method is missing; null for none.
for (const { name, check } of journalStoreChecks({ open, journal: order.entries }))
  await check().then((skipped) => console.log(name, skipped ?? 'passed'));
