'use strict';
// shakesapp-server with the stock client for Node: whatever some calls come to, each ends with the
// right status, and the others go on.
//
// SHAKESAPP_BIN names the folder of the programs; what is generated goes into SHAKESAPP_SCRATCH.
// The text is the real one if SHAKESAPP_CORPUS names it, else the generated one.

const assert = require('node:assert');
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');
const { after, before, test } = require('node:test');

const [grpc, protoLoader] = ['@grpc/grpc-js', '@grpc/proto-loader'].map((name) => {
  try {
    return require(name);
  } catch {
    console.log(`skipped: ${name} is missing: scripts/check installs it below build/node`);
    return process.exit(77);
  }
});
const { status } = grpc;

const PATIENCE_MS = 120_000; // that nothing here needs, unless it hangs
const KNOWN = { hello: 349, world: 728, 'to be, or not to be': 1, insolence: 14 };
const FEW_WORKS = ['hamlet', 'kinglear', 'macbeth', 'othello', 'tempest', 'sonnets'];
const SERVICE = '/shakesapp.ShakespeareService';
const MAX_REQUEST_BYTES = 65536;

const { shakesapp } = grpc.loadPackageDefinition(
  protoLoader.loadSync(path.join(__dirname, '../../proto/shakesapp.proto'), {
    defaults: true,
    longs: Number,
  }),
);

let scratch;
let text; // the folder of all works
let fewWorks; // that of a copy of FEW_WORKS
let fewCounts; // the four known phrases there

class Server {
  constructor(...flags) {
    const env = { ...process.env, HOME: scratch };
    for (const name of Object.keys(env)) {
      if (name.startsWith('XDG_')) delete env[name];
    }
    this.process = spawn(
      path.join(process.env.SHAKESAPP_BIN, 'shakesapp-server'),
      ['-port', '0', ...flags],
      { env, stdio: ['ignore', 'ignore', 'pipe'] },
    );
    this.closed = once(this.process, 'close');
    this.log = [];
    this.reader = readline.createInterface({ input: this.process.stderr });
    this.reader.on('line', (line) => this.log.push(line));
  }

  /** Waits for a line of the log and returns the match. */
  async waitLine(pattern) {
    for (;;) {
      const found = this.log.map((line) => pattern.exec(line)).find(Boolean);
      if (found) return found;
      const ended = this.closed.then(() => assert.fail(`no ${pattern} in ${this.log.join('\n')}`));
      await Promise.race([once(this.reader, 'line'), ended]);
    }
  }

  async address() {
    return (await this.waitLine(/is listening on (\S+)$/))[1];
  }

  async waitEnd() {
    const [code] = await this.closed;
    assert.strictEqual(code, 0, this.log.join('\n'));
  }

  /** Asks it to end and waits until it has begun to. */
  async drain() {
    this.ending = true;
    this.process.kill('SIGTERM');
    await this.waitLine(/SIGTERM: finishing the calls in progress/);
  }

  async stop() {
    if (!this.ending) await this.drain();
    await this.waitEnd();
  }
}

/** A client with a connection of its own, which is open. */
async function connect(address, options) {
  const client = new shakesapp.ShakespeareService(address, grpc.credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  });
  await new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + PATIENCE_MS, (error) => (error ? reject(error) : resolve()));
  });
  return client;
}

/** Runs the body with a server of the version and a client; the server must end well. */
async function serving(version, flags, body, folder = fewWorks) {
  const server = new Server('-version', String(version), '-corpus', folder, ...flags);
  let client;
  try {
    client = await connect(await server.address());
    await body(client, server);
    await server.stop();
  } finally {
    client?.close();
    server.process.kill('SIGKILL');
  }
}

/** Starts a call; `ended` resolves to its code and its count or details. */
function start(client, phrase, timeoutMs = PATIENCE_MS) {
  const call = { phrase };
  call.ended = new Promise((resolve) => {
    const options = { deadline: Date.now() + timeoutMs };
    const handle = client.getMatchCount({ query: phrase }, options, (error, reply) => {
      resolve(error ?? { code: status.OK, count: reply.matchCount });
    });
    call.cancel = () => handle.cancel();
  });
  return call;
}

function startMany(client, phrase, count, timeoutMs) {
  return Array.from({ length: count }, () => start(client, phrase, timeoutMs));
}

const bytes = (value) => value;

/** Sends bytes that need not be a request; resolves as `ended` does. */
function send(client, request, method = `${SERVICE}/GetMatchCount`) {
  return new Promise((resolve) => {
    const options = { deadline: Date.now() + PATIENCE_MS };
    client.makeUnaryRequest(method, bytes, bytes, request, options, (error) => {
      resolve(error ?? { code: status.OK });
    });
  });
}

/** Waits until the server has all calls that were started before: it answers an unknown method at
 * once, though every worker is busy, and in its turn. */
async function settle(client) {
  assertEnd(await send(client, Buffer.alloc(0), `${SERVICE}/Unknown`), status.UNIMPLEMENTED);
}

function assertEnd(end, code, details = /$/) {
  assert.strictEqual(status[end.code], status[code], end.details);
  assert.match(end.details ?? '', details);
}

async function assertRight(call) {
  const end = await call.ended;
  assertEnd(end, status.OK);
  assert.strictEqual(end.count, fewCounts[call.phrase], call.phrase);
}

/** The same, while phrase after phrase is asked on another connection. */
async function servingOthers(version, flags, body) {
  await serving(version, flags, async (client, server) => {
    await whileAsking(await server.address(), () => body(client, server));
  });
}

async function whileAsking(address, body) {
  const client = await connect(address);
  let over = false;
  const ask = async () => {
    for (let asked = 0, last = false; !last; asked++) {
      last = over;
      await assertRight(start(client, Object.keys(KNOWN)[asked % 4]));
    }
  };
  const asking = ask();
  try {
    await body();
  } finally {
    over = true;
    await asking;
    client.close();
  }
}

/** Resolves to the codes of the calls, each with the number of calls that ended so. */
async function countEnds(calls) {
  const ends = {};
  for (const call of calls) {
    const name = status[(await call.ended).code];
    ends[name] = (ends[name] ?? 0) + 1;
  }
  return ends;
}

async function findText() {
  if (process.env.SHAKESAPP_CORPUS) return process.env.SHAKESAPP_CORPUS;
  const server = new Server('-version', '4'); // without -corpus it generates the text
  await server.address();
  await server.stop();
  return path.join(scratch, '.cache/shakesapp/stand-in');
}

before(async () => {
  scratch = fs.mkdtempSync(path.join(process.env.SHAKESAPP_SCRATCH, 'stock-node-'));
  text = await findText();
  fewWorks = path.join(scratch, 'few');
  fs.mkdirSync(fewWorks);
  const lines = FEW_WORKS.flatMap((name) => {
    const work = fs.readFileSync(path.join(text, `${name}.txt`), 'latin1');
    fs.writeFileSync(path.join(fewWorks, `${name}.txt`), work, 'latin1');
    return work.toLowerCase().split('\n');
  });
  fewCounts = Object.fromEntries(Object.keys(KNOWN).map(
    (phrase) => [phrase, lines.filter((line) => line.includes(phrase)).length]));
});

after(() => fs.rmSync(scratch, { recursive: true }));

test('the four known queries', async () => {
  for (const version of [2, 4]) {
    await serving(version, [], async (client) => {
      for (const [phrase, count] of Object.entries(KNOWN)) {
        assert.strictEqual((await start(client, phrase).ended).count, count, phrase);
      }
    }, text);
  }
});

test('phrases beyond ASCII', async () => {
  const folder = path.join(scratch, 'unicode');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'work.txt'), 'école École\nÉCOLE\nПривет, МИР\n🎭\n');
  await serving(4, [], async (client) => {
    for (const [phrase, count] of [['École', 2], ['привет, мир', 1], ['🎭', 1], ['🎪', 0]]) {
      assert.strictEqual((await start(client, phrase).ended).count, count, phrase);
    }
  }, folder);
});

test('a thousand calls at once', () => serving(4, [], async (client) => {
  const calls = Object.keys(KNOWN).flatMap((phrase) => startMany(client, phrase, 250));
  await Promise.all(calls.map(assertRight));
}));

test('more calls than allowed', () => serving(1, ['-max_in_flight', '8'], async (client) => {
  const calls = startMany(client, 'hello', 1000);
  const ends = await countEnds(calls);
  assert.ok(ends.OK >= 8 && ends.RESOURCE_EXHAUSTED > 0, JSON.stringify(ends));
  for (const call of calls) {
    const end = await call.ended;
    if (end.code === status.OK) await assertRight(call);
    else assertEnd(end, status.RESOURCE_EXHAUSTED, /8 calls are in progress/);
  }
  await assertRight(start(client, 'world'));
}));

test('cancelled calls', () => servingOthers(2, [], async (client) => {
  const ends = {};
  for (let round = 0; round < 20; round++) {
    const calls = startMany(client, 'insolence', 20);
    await calls[(round * 7) % 20].ended; // until then some have ended
    const doomed = calls.filter((_, at) => (at + round) % 2);
    for (const call of doomed) call.cancel();
    for (const call of calls) {
      const { code } = await call.ended;
      if (!doomed.includes(call) || code !== status.CANCELLED) await assertRight(call);
      ends[code] = (ends[code] ?? 0) + 1;
    }
  }
  assert.ok(ends[status.CANCELLED] > 30, JSON.stringify(ends));
}));

test('cancelled calls do not keep others waiting', () => serving(1, [], async (client) => {
  const doomed = startMany(client, 'hello', 980);
  const others = startMany(client, 'world', 6);
  await settle(client);
  for (const call of doomed) call.cancel();
  await Promise.all(others.map(assertRight));
  const { OK = 0, CANCELLED } = await countEnds(doomed);
  assert.strictEqual(OK + CANCELLED, 980);
  assert.ok(OK < 100, `${OK} of 980 calls were not cancelled`);
}));

test('deadlines of a millisecond', () => servingOthers(2, [], async (client) => {
  const { OK = 0, DEADLINE_EXCEEDED } = await countEnds(startMany(client, 'hello', 500, 1));
  assert.strictEqual(OK + DEADLINE_EXCEEDED, 500);
  assert.ok(DEADLINE_EXCEEDED > OK, `${OK} of 500 calls were in time`);
  await assertRight(start(client, 'world'));
}));

test('requests that are strange', () => servingOthers(4, [], async (client) => {
  const refused = [
    ['', /the query is empty/],
    ['x'.repeat(1025), /the query is over 1024 bytes/],
    ['é'.repeat(513), /the query is over 1024 bytes/],
    ['a\0b', /the query holds a NUL byte/],
  ];
  for (const [phrase, details] of refused) {
    assertEnd(await start(client, phrase).ended, status.INVALID_ARGUMENT, details);
  }
  const sent = [
    [Buffer.from([0x0a, 0x01, 0xff]), status.INVALID_ARGUMENT, /the query is not UTF-8/],
    [Buffer.from([0x0a, 0xff]), status.INTERNAL, /is no shakesapp.ShakespeareRequest/],
    [Buffer.alloc(100, 0xff), status.INTERNAL, /is no shakesapp.ShakespeareRequest/],
    [Buffer.alloc(MAX_REQUEST_BYTES + 1), status.RESOURCE_EXHAUSTED, /larger than max/],
  ];
  for (const [request, code, details] of sent) {
    assertEnd(await send(client, request), code, details);
  }
  for (const unknown of [`${SERVICE}/GetMatchCounts`, '/a.B/C']) {
    const end = await send(client, Buffer.alloc(0), unknown);
    assertEnd(end, status.UNIMPLEMENTED, new RegExp(`there is no method ${unknown}$`));
  }
}));

test('a stream without a message', () => serving(4, [], async (client) => {
  const end = await new Promise((resolve) => {
    client.makeClientStreamRequest(`${SERVICE}/GetMatchCount`, bytes, bytes, resolve).end();
  });
  assertEnd(end, status.UNIMPLEMENTED, /takes one message and none came/);
}));

test('compressed requests', () => serving(4, [], async (client, server) => {
  for (const algorithm of [1, 2]) {
    const compressing = await connect(await server.address(), {
      'grpc.default_compression_algorithm': algorithm,
    });
    for (const phrase of Object.keys(KNOWN)) await assertRight(start(compressing, phrase));
    const inflating = await start(compressing, 'x'.repeat(10_000_000)).ended;
    assertEnd(inflating, status.RESOURCE_EXHAUSTED, /larger than max/);
    compressing.close();
  }
}));

const drainingLong = ['-drain_timeout', '1h'];

test('a server that is asked to end', () => serving(1, drainingLong, async (client, server) => {
  const calls = startMany(client, 'hello', 4);
  await settle(client);
  await server.drain();
  let later;
  do { // one may come before the end of admission
    later = await start(client, 'hello').ended;
  } while (later.code === status.OK);
  assert.ok([status.UNAVAILABLE, status.CANCELLED].includes(later.code), String(later));
  await Promise.all(calls.map(assertRight));
  await server.waitEnd();
}));
