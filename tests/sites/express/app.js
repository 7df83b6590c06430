// A shop on Express, as `npm init` leaves it (NODE_ENV unset: errors show their stack).
// What is planted here must never reach an agent.
const express = require('express')

const app = express()
const WAREHOUSE_DSN = 'postgres://shop:planted-pw@db.internal:5432/shop'

app.use(express.json())
app.get('/', (req, res) => res.send('<title>Shop</title><h1>Welcome</h1>'))
app.post('/orders', (req, res) => {
  if (!(req.body.quantity >= 1)) return res.status(422).json({ error: 'The quantity must be 1 or more.', field: 'quantity' })
  res.json(req.body)
})
app.get('/boom', () => { throw new Error(`could not connect to ${WAREHOUSE_DSN}`) })
app.listen(Number(process.env.PORT), '127.0.0.1')
