package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A Contract is one suite as it was promised: also what was not run belongs to it.
type Contract struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Promises []Promise `json:"promises"`
	Laws     []Promise `json:"laws,omitempty"` // demanded of the database after every run
}

// A Promise is a name and what it says.
type Promise struct {
	Name string `json:"name"`
	Law  string `json:"law"`
}

const contracts = "contracts.json"

// SaveContracts keeps what the gate promises, for the matrix of its page.
func SaveContracts(dir string, all []Contract) error {
	if dir == "" {
		return nil
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("report: encode the contracts: %w", err)
	}
	return saveFile(dir, ".", contracts, append(text, '\n'))
}

// readContracts returns none when there is no file.
func readContracts(dir string) (all []Contract, err error) {
	text, err := os.ReadFile(filepath.Join(dir, contracts))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("report: read the contracts: %w", err)
	}
	return all, nil
}
