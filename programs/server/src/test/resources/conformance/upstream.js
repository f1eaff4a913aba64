// The application of the HTTP conformance suite, without any protection of its own. Prints its port and serves until killed.
const http = require('http');

const counts = new Map();
const gates = new Map();

function count(request) {
  const effect = request.headers['x-effect'];
  counts.set(effect, (counts.get(effect) || 0) + 1);
  return counts.get(effect);
}

function gate(id) {
  if (!gates.has(id)) {
    let open;
    const opened = new Promise((resolve) => { open = resolve; });
    gates.set(id, {open, opened});
  }
  return gates.get(id);
}

function echo(request, response, body) {
  response.writeHead(201, {
    'Content-Type': 'application/json',
    'Location': '/things/1',
    'X-Several': ['one', 'two'],
    'Set-Cookie': 'session=secret',
    'traceparent': '00-1',
  });
  response.end(`{"run":${count(request)},"received":"${body.toString('base64')}"}`);
}

function text(response, status, content) {
  response.writeHead(status, {'Content-Type': 'text/plain;charset=UTF-8'});
  response.end(content);
}

async function handle(request, response, body) {
  const [, first, action, code] = request.url.split('?')[0].split('/');
  if (first === 'effects') {
    text(response, 200, String(counts.get(action) || 0));
  } else if (first === 'gates') {
    gate(action).open();
    response.writeHead(204).end();
  } else if (action === 'echo' || action === 'other') {
    echo(request, response, body);
  } else if (action === 'form') {
    const form = new URLSearchParams(body.toString());
    count(request);
    text(response, 200, `${form.get('a')},${form.get('b')}`);
  } else if (action === 'status') {
    const run = count(request);
    text(response, run === 1 ? Number(code) : 201, `run ${run}`);
  } else if (action === 'gate') {
    count(request);
    await gate(request.headers['x-effect']).opened;
    text(response, 201, 'done');
  } else if (action === 'large') {
    count(request);
    response.writeHead(200, {'Location': '/things/1', 'Content-Type': 'application/octet-stream'});
    response.end('x'.repeat(2 << 20));
  } else {
    text(response, 404, 'no such path');
  }
}

const server = http.createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => handle(request, response, Buffer.concat(chunks)));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
