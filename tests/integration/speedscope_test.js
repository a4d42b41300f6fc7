'use strict';
// Speedscope, in a browser, with profiles that the builder wrote: it must take them, and show the
// numbers of `folio top`.
//
// SHAKESAPP_BIN names the folder of the programs; what is generated goes into SHAKESAPP_SCRATCH.

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { after, before, test } = require('node:test');

function skip(reason) {
  console.log(`skipped: ${reason}`);
  process.exit(77);
}

function find(name) {
  try {
    return require.resolve(name);
  } catch {
    return skip(`${name} is missing: scripts/check installs it below build/node`);
  }
}

const { chromium } = require(find('playwright-core'));
const SPEEDSCOPE = path.join(path.dirname(find('speedscope/package.json')), 'dist/release');
const CHROMIUM = '/usr/bin/chromium';
if (!fs.existsSync(CHROMIUM)) skip(`${CHROMIUM} is missing: install the package chromium`);

const PATIENCE_MS = 60_000; // that nothing here needs, unless it hangs
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

let scratch;
let server; // Speedscope's files, and below /profiles/ ours
let browser;

function tool(name, ...flags) {
  const program = path.join(process.env.SHAKESAPP_BIN, name);
  return execFileSync(program, flags, { encoding: 'utf8', timeout: PATIENCE_MS });
}

function makeProfile(kind) {
  const file = path.join(scratch, kind);
  tool('make_profile', kind, file);
  return file;
}

function answer(request, response) {
  const { pathname } = new URL(request.url, 'http://127.0.0.1');
  const name = path.basename(pathname) || 'index.html';
  const folder = pathname.startsWith('/profiles/') ? scratch : SPEEDSCOPE;
  fs.readFile(path.join(folder, name), (error, bytes) => {
    const type = TYPES[path.extname(name)] ?? 'application/octet-stream';
    response.writeHead(error ? 404 : 200, { 'Content-Type': type });
    response.end(bytes);
  });
}

before(async () => {
  scratch = fs.mkdtempSync(path.join(process.env.SHAKESAPP_SCRATCH, 'speedscope-'));
  server = http.createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--enable-unsafe-swiftshader'],
  });
});

after(async () => {
  await browser?.close();
  server?.close();
  fs.rmSync(scratch, { recursive: true });
});

// Opens the profile in the view with the table of functions; what the page complained about.
async function open(kind) {
  const complaints = [];
  // High enough for all rows: those out of sight do not exist.
  const page = await browser.newPage({ viewport: { width: 1200, height: 4000 } });
  page.setDefaultTimeout(PATIENCE_MS);
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(dialog.message());
    dialog.dismiss();
  });
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  const url = `http://127.0.0.1:${server.address().port}/profiles/${kind}`;
  await page.goto(`${new URL('/', url)}#profileURL=${encodeURIComponent(url)}&view=sandwich`);
  return { page, complaints };
}

async function rows(page) {
  await page.getByText('Symbol Name').waitFor();
  const cells = await page.locator('tr').evaluateAll(
    (all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText.trim())),
  );
  return cells.filter((row) => row.length === 3);
}

// "1.90s (3.8%)", as Speedscope writes it from a second to a minute, and below.
function time(ns) {
  return ns >= 1e9 ? `${(ns / 1e9).toFixed(2)}s` : `${(ns / 1e6).toFixed(2)}ms`;
}

test('the same numbers as folio top', { timeout: PATIENCE_MS }, async () => {
  const report = JSON.parse(tool('folio', 'top', '-json', '-n', '0', makeProfile('plain')));
  const { page, complaints } = await open('plain');
  const shown = new Map();
  for (const [total, self, name] of await rows(page)) {
    shown.set(name, [total.split(' ')[0], self.split(' ')[0]]);
  }
  assert.deepStrictEqual(complaints, []);
  assert.ok(report.functions.length > 50, `${report.functions.length} functions`);
  for (const { name, cum, flat } of report.functions) {
    assert.deepStrictEqual(shown.get(name), [time(cum), time(flat)], name);
  }
  assert.strictEqual(shown.size, report.functions.length);
  await page.close();
});

// Speedscope shows only the outermost of inlined functions: numbers differ by design.
for (const kind of ['cpu', 'heap', 'large']) {
  test(`a profile of the kind ${kind}`, { timeout: PATIENCE_MS }, async () => {
    makeProfile(kind);
    const { page, complaints } = await open(kind);
    const names = (await rows(page)).map(([, , name]) => name);
    assert.deepStrictEqual(complaints, []);
    assert.ok(names.includes('ns::Type<int>::method_1(char const*)'), names.join('\n'));
    assert.ok(names.includes('größe_2'), names.join('\n'));
    await page.close();
  });
}

test('what is no profile', { timeout: PATIENCE_MS }, async () => {
  fs.writeFileSync(path.join(scratch, 'bad'), fs.readFileSync(makeProfile('cpu')).subarray(0, 99));
  const { page, complaints } = await open('bad');
  while (complaints.length === 0) await page.waitForTimeout(50);
  await page.close();
});
