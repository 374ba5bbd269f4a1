package properties_test

import "context"

func (m *receiptMachine) pair(ctx context.Context, a act) ([]observed, error) {
	o, err := m.call(ctx, a)
	return []observed{o}, err
}
