// A service that counts what it does: node service.js PORT
const http = require('http');
let payments = 0;
http.createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => { body += chunk; });
  request.on('end', () => {
    if (request.method === 'POST') {
      payments += 1;
    }
    response.writeHead(request.method === 'POST' ? 201 : 200, {'Content-Type': 'application/json'});
    response.end(JSON.stringify({payments, key: request.headers['idempotency-key'], body}) + '\n');
  });
}).listen(Number(process.argv[2]), '127.0.0.1');
